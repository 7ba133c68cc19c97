#include "services/repository_notes.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "image/archive_reader.hpp"
#include "services/notes_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace autopack {

namespace {

using namespace notes_format;

constexpr std::size_t connections{8};

/// Such texts are kept on this machine as well. Larger ones are lists of what wheels bring, which
/// are remembered by those who ask for them.
constexpr std::uint64_t largest_kept_text{65'536};

std::string tag_of(const Digest& executor, const std::string& platform) {
  return "apn-" + sha256(fmt::format("notes {} {} {}", version, executor.str(), platform))
                      .hex()
                      .substr(0, 16);
}

/// The index of `manifest`, which is kept on this machine as well.
std::string index_text(registry::Repository& repository,
                       const image::Manifest& manifest,
                       const state::BlobCache& blobs) {
  auto text = blobs.get(manifest.config.digest);
  if (!text) {
    text = repository.read_blob(manifest.config);
    blobs.put(*text);
  }
  return std::move(*text);
}

std::optional<Notes> read_from(registry::Repository& repository,
                               const state::BlobCache& blobs,
                               const Digest& executor,
                               const std::string& platform) {
  const auto tag = tag_of(executor, platform);
  const auto stored = repository.manifest(tag);
  if (!stored) {
    return std::nullopt;
  }
  const auto manifest = image::parse_manifest(stored->text, "the manifest of `" + tag + "`");
  if (manifest.config.media_type != index_type || manifest.config.size > largest_index) {
    return std::nullopt;
  }
  return read_notes(manifest, index_text(repository, manifest, blobs), executor, platform);
}

/// Puts `first` before what `old` has under other keys.
template <class Value>
std::vector<std::pair<std::string, Value>> merged(
    std::vector<std::pair<std::string, Value>> first,
    const std::vector<std::pair<std::string, Value>>& old,
    std::size_t most) {
  std::set<std::string> keys;
  for (const auto& one : first) {
    keys.insert(one.first);
  }
  std::copy_if(old.begin(), old.end(), std::back_inserter(first),
               [&](const auto& one) { return !keys.contains(one.first); });
  first.erase(first.begin() + static_cast<std::ptrdiff_t>(std::min(first.size(), most)),
              first.end());
  return first;
}

/// The packed text `descriptor`, which this machine may have.
std::string packed_text(registry::Repository& repository,
                        const image::Descriptor& descriptor,
                        const state::BlobCache& blobs) {
  const bool is_kept = descriptor.size <= largest_kept_text;
  if (auto known = is_kept ? blobs.get(descriptor.digest) : std::nullopt) {
    return std::move(*known);
  }
  auto text = repository.read_blob(descriptor);
  if (is_kept) {
    blobs.put(text);
  }
  return text;
}

registry::Blob blob_of(std::string bytes, const char* type) {
  return {
      .known = image::Descriptor{.media_type = type, .digest = sha256(bytes), .size = bytes.size()},
      .open = registry::source_of(std::move(bytes)),
      .is_new = true};
}

/// The text `key` of `notes`; null when it is not noted.
const image::Descriptor* text_of(const Notes& notes, const std::string& key) {
  const auto found = std::find_if(notes.texts.begin(), notes.texts.end(),
                                  [&](const auto& one) { return one.first == key; });
  return found != notes.texts.end() ? &found->second : nullptr;
}

void keep_in(registry::Repository& target,
             const state::BlobCache& blobs,
             const Digest& executor,
             const std::string& platform,
             const RepositoryNotes::FindNews& find) {
  const auto before = read_from(target, blobs, executor, platform).value_or(Notes{});
  auto news = find(before);
  Notes after{.about = news.about ? news.about : before.about,
              .layers = merged(std::move(news.layers), before.layers, most_layers)};
  std::vector<registry::Blob> sent;
  for (const auto& [key, text] : news.texts) {
    auto packed = image::compressed(text);
    if (packed.size() > largest_packed_text || text.size() > largest_noted_text) {
      continue;
    }
    if (packed.size() <= largest_kept_text) {
      blobs.put(packed);
    }
    auto blob = blob_of(std::move(packed), text_type);
    after.texts.emplace_back(key, *blob.known);
    const auto* noted = text_of(before, key);
    if (noted == nullptr || noted->digest != blob.known->digest) {
      sent.push_back(std::move(blob));
    }
  }
  after.texts = merged(std::move(after.texts), before.texts, most_texts);
  if (sent.empty() && after.about == before.about && after.layers == before.layers) {
    return;
  }
  const auto index = notes_json(after, executor, platform);
  if (index.size() > largest_index) {
    return;
  }
  sent.push_back(blob_of(index, index_type));
  image::Manifest manifest{.media_type = std::string{image::media_type::oci_manifest},
                           .config = *sent.back().known};
  for (auto& [key, text] : after.texts) {
    text.media_type = text_type;
    text.annotations = {{key_annotation, key}};
    manifest.layers.push_back(text);
  }
  registry::push_blobs(target, sent, {});
  blobs.put(index);
  auto text = image::to_json(manifest);
  const auto digest = sha256(text);
  target.put_manifest(
      {.media_type = manifest.media_type, .text = std::move(text), .digest = digest},
      tag_of(executor, platform));
}

/// Runs `work`; what a repository refuses is told as a detail.
template <class Work>
void or_tell(Reporter& reporter, Work work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) {
      throw;
    }
    reporter.detail(fmt::format("notes on the executor image: {}", error.what()));
  }
}

}  // namespace

RepositoryNotes::RepositoryNotes(Open open,
                                 std::filesystem::path directory,
                                 state::BlobCache blobs,
                                 Reporter& reporter)
    : open_{std::move(open)},
      directory_{std::move(directory)},
      blobs_{std::move(blobs)},
      reporter_{reporter} {}

std::shared_ptr<registry::Repository> RepositoryNotes::repository() {
  if (!repository_) {
    repository_ = open_();
  }
  return repository_;
}

void RepositoryNotes::read(const Digest& executor, const std::string& platform) {
  auto tag = tag_of(executor, platform);
  if (tag == tag_) {
    return;
  }
  tag_ = std::move(tag);
  notes_ = {};
  there_.clear();
  or_tell(reporter_, [&] { repository(); });
  if (!repository_) {
    return;
  }
  reading_ = in_background(
      [&reporter = reporter_, blobs = blobs_, from = repository(), executor, platform] {
        Notes notes;
        or_tell(reporter,
                [&] { notes = read_from(*from, blobs, executor, platform).value_or(Notes{}); });
        return notes;
      });
}

const Notes& RepositoryNotes::notes() {
  if (reading_.valid()) {
    notes_ = reading_.get();
  }
  return notes_;
}

void RepositoryNotes::look_for_layers(const std::vector<std::string>& keys) {
  std::vector<const std::pair<std::string, image::LayerFacts>*> noted;
  for (const auto& one : notes().layers) {
    if (!there_.contains(one.first) &&
        std::find(keys.begin(), keys.end(), one.first) != keys.end()) {
      noted.push_back(&one);
    }
  }
  std::mutex mutex;
  or_tell(reporter_, [&] {
    in_parallel(noted.size(), connections, [&](std::size_t i) {
      if (repository()->has_blob(noted[i]->second.digest)) {
        const std::lock_guard lock{mutex};
        there_.insert(*noted[i]);
      }
    });
  });
}

std::optional<image::LayerFacts> RepositoryNotes::layer(const std::string& key) const {
  const auto found = there_.find(key);
  return found != there_.end() ? std::optional{found->second} : std::nullopt;
}

bool RepositoryNotes::has_text(const std::string& key) {
  return text_of(notes(), key) != nullptr;
}

image::Reader RepositoryNotes::open_layer(const image::Descriptor& layer) {
  auto reader = registry::blob_source(*repository(), layer)();
  return [held = repository(), reader = std::move(reader)](char* buffer, std::size_t size) {
    return reader(buffer, size);
  };
}

std::map<std::string, std::string> RepositoryNotes::texts(const std::vector<std::string>& keys) {
  std::vector<const std::pair<std::string, image::Descriptor>*> noted;
  for (const auto& one : notes().texts) {
    const bool is_wanted = std::find(keys.begin(), keys.end(), one.first) != keys.end();
    if (is_wanted && one.second.size <= largest_packed_text) {
      noted.push_back(&one);
    }
  }
  std::mutex mutex;
  std::map<std::string, std::string> found;
  or_tell(reporter_, [&] {
    in_parallel(noted.size(), connections, [&](std::size_t i) {
      auto text = image::decompressed(packed_text(*repository(), noted[i]->second, blobs_),
                                      largest_noted_text);
      const std::lock_guard lock{mutex};
      found.emplace(noted[i]->first, std::move(text));
    });
  });
  return found;
}

void RepositoryNotes::keep(std::shared_ptr<registry::Repository> target,
                           const Digest& executor,
                           const std::string& platform,
                           FindNews find) {
  keeping_ = in_background([&reporter = reporter_, blobs = blobs_, target = std::move(target),
                            executor, platform, find = std::move(find)] {
    or_tell(reporter, [&] { keep_in(*target, blobs, executor, platform, find); });
  });
}

}  // namespace autopack
