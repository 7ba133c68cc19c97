#include "compare/find_image.hpp"

#include "base/error.hpp"
#include "base/new_file.hpp"
#include "base/text.hpp"
#include "image/file_image.hpp"
#include "services/registry_image.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

namespace autopack::compare {

namespace {

/// Returns nothing if there is no engine, or it lacks the image.
std::optional<std::string> id_in_engine(Services& services, const image::Reference& reference) {
  try {
    const auto held = services.docker().inspect(reference.text);
    return held ? std::optional{held->id} : std::nullopt;
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

/// Uses an unlinked file in the cache.
image::Source from_engine(Services& services,
                          const image::Reference& reference,
                          const std::string& platform) {
  const auto place = services.environment.cache_directory() / "saved.tar";
  sweep_leftovers(place);
  NewFile file{place, FileMode::secret};
  const std::string step = "save " + reference.text;
  std::uint64_t count = 0;
  services.docker().save(reference.text, [&](std::string_view bytes) {
    services.cancellation->throw_if_requested();
    file.write(bytes);
    count += bytes.size();
    services.reporter->step(
        {.id = step, .name = step, .state = StepEvent::State::progress, .current = count});
  });
  services.reporter->step({.id = step, .name = step, .state = StepEvent::State::completed});
  return image::open_files(
      {.kind = image::FileReference::Kind::archive, .path = file.path(), .text = reference.text},
      platform);
}

image::Source from_registry(Services& services,
                            const image::Reference& reference,
                            const std::string& platform) {
  std::shared_ptr<registry::Repository> repository =
      open_repository(services, reference, registry::Access::pull);
  const auto stored = repository->image_manifest(
      reference.digest ? reference.digest->str() : reference.tag.value_or("latest"), platform);
  if (!stored) {
    throw Error(ErrorKind::remote,
                fmt::format("the registry has no `{}`", printable(reference.text)));
  }
  auto exact = image::Reference::parse(reference.with_digest(stored->digest));
  exact.text = reference.text;
  return registry_image(services, std::move(repository), exact, platform);
}

}  // namespace

image::Source find_image(Services& services, const std::string& name, const std::string& platform) {
  if (const auto files = image::FileReference::parse(name)) {
    return image::open_files(*files, platform);
  }
  // This is an image id, not a reference.
  const auto reference =
      name.starts_with("sha256:") ? image::Reference{.text = name} : image::Reference::parse(name);
  if (!reference.names_registry()) {
    if (id_in_engine(services, reference)) {
      return from_engine(services, reference, platform);
    }
    if (reference.path.empty()) {
      throw Error(ErrorKind::usage, fmt::format("the engine has no image `{}`", printable(name)));
    }
  }
  try {
    return from_registry(services, reference, platform);
  } catch (const Error&) {
    if (!id_in_engine(services, reference)) {
      throw;
    }
  }
  return from_engine(services, reference, platform);
}

}  // namespace autopack::compare
