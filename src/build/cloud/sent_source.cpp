#include "build/cloud/sent_source.hpp"

#include "base/text.hpp"
#include "build/cloud/build_request.hpp"
#include "image/layer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace autopack::build {

PackedSource::PackedSource(Services& services, const ContextParts& parts)
    : file_{[&] {
        const auto place = services.environment.cache_directory() / "cloud-source.tar.gz";
        sweep_leftovers(place);
        return std::make_unique<NewFile>(place, FileMode::secret);
      }()},
      added_{parts.files.size() + parts.copies.size()} {
  image::LayerWriter writer{[this](std::string_view bytes) { file_->write(bytes); }};
  const PlannedContext context{parts};
  context.write([&](std::string_view bytes) {
    services.cancellation->throw_if_requested();
    writer.write(bytes);
  });
  const auto facts = writer.finish();
  size_ = facts.size;
  hash_ = facts.digest.hex();
  files_ = added_;
  if (parts.plan != nullptr) {
    files_ += static_cast<std::size_t>(std::ranges::count_if(
        plan::context(*parts.plan),
        [](const auto* entry) { return entry->type == source::EntryType::file; }));
  }
}

std::string PackedSource::files_text() const {
  return fmt::format("{} file{}{}", files_, files_ == 1 ? "" : "s",
                     added_ == 0 ? "" : fmt::format(" ({} added by autopack)", added_));
}

std::string PackedSource::object_name(const std::string& tag) const {
  return fmt::format("{}/{}-{}.tar.gz", cloud_directory, hash_.substr(0, 16),
                     tag.substr(tag.rfind('-') + 1));
}

std::string PackedSource::read(std::uint64_t offset, std::size_t size) const {
  std::ifstream file{file_->path(), std::ios::binary};
  std::string bytes(size, '\0');
  file.seekg(static_cast<std::streamoff>(offset));
  if (!file.read(bytes.data(), static_cast<std::streamsize>(size))) {
    throw Error(ErrorKind::environment, fmt::format("cannot read `{}`", file_->path()));
  }
  return bytes;
}

SentSource::SentSource(const google::Storage& storage,
                       std::function<void(const google::StoredObject& object)> remove,
                       Reporter& reporter,
                       const PackedSource& source,
                       google::StoredObject object)
    : remove_{std::move(remove)}, reporter_{reporter}, object_{std::move(object)} {
  constexpr auto* step = "send the source";
  const LiveStep shown{reporter_, step};
  try {
    object_ = storage.upload(
        {.bucket = object_.bucket,
         .name = object_.name,
         .content_type = "application/gzip",
         .size = source.size(),
         .read = [&](std::uint64_t offset, std::size_t size) { return source.read(offset, size); },
         .progress =
             [&](std::uint64_t bytes) {
               reporter_.step({.id = step,
                               .name = step,
                               .state = StepEvent::State::progress,
                               .current = bytes,
                               .total = source.size()});
             }});
  } catch (...) {
    // The last answer may have been lost.
    this->remove();
    throw;
  }
  reporter_.done("Sent",
                 fmt::format("{}, {}, to {}, which is deleted after the build", source.files_text(),
                             human_size(source.size()), object_.url()));
}

SentSource::~SentSource() {
  remove();
}

void SentSource::remove() noexcept {
  try {
    remove_(object_);
    reporter_.detail("deleted " + object_.url());
  } catch (const std::exception& error) {
    reporter_.warn(
        Problem::warning({.message = fmt::format(
                              "the source of the build, `{}`, could not be deleted", object_.url()),
                          .hints = {"gcloud storage rm " + shell_quote(object_.url())},
                          .reason = error.what()}));
  }
}

}  // namespace autopack::build
