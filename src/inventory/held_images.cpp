#include "inventory/held_images.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "packaging/image_name.hpp"
#include "packaging/packaging.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::inventory {

namespace {

constexpr std::size_t digits{16};

/// Returns the key of a tag `ap-KEY` or `apd-KEY`; nothing for other tags.
std::optional<std::string> key_of_tag(std::string_view tag) {
  const auto key = tag.substr(std::min(tag.find('-') + 1, tag.size()));
  const bool is_key =
      key.size() == digits && key.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return is_key && (tag.starts_with("ap-") || tag.starts_with("apd-"))
             ? std::optional{std::string{key}}
             : std::nullopt;
}

std::string label_of(const engine::ListedImage& image, const char* label) {
  const auto found = image.labels.find(label);
  return found == image.labels.end() ? "" : found->second.substr(0, digits);
}

HeldImage held(const engine::ListedImage& image) {
  HeldImage one{.id = image.id, .size = image.size};
  if (image.tagged > 0) {
    one.time = image.tagged;
  }
  one.key = label_of(image, packaging::key_label);
  one.is_whole = !one.key.empty();
  if (!one.is_whole) {
    one.key = label_of(image, packaging::dependency_key_label);
  }
  return one;
}

}  // namespace

std::vector<HeldImage> images_in_engine(Services& services,
                                        const std::vector<std::string>& repositories) {
  const auto is_asked = [&](const std::string& repository) {
    return repositories.empty() || contains(repositories, repository);
  };
  std::vector<HeldImage> images;
  // Every image has this label, including those with code.
  for (const auto& image : services.docker().list_images(packaging::dependency_key_label)) {
    auto one = held(image);
    for (const auto& name : image.names) {
      const auto colon = name.rfind(':');
      const auto tag = name.substr(std::min(colon + 1, name.size()));
      if (!is_asked(name.substr(0, colon))) {
        continue;
      }
      one.name = name;
      one.is_ours = key_of_tag(tag) || tag == packaging::last_run_tag;
      images.push_back(one);
    }
    if (repositories.empty() && image.names.empty()) {
      one.name = image.id;
      one.is_ours = true;
      images.push_back(one);
    }
  }
  std::ranges::sort(images, [](const HeldImage& a, const HeldImage& b) {
    return a.time != b.time ? a.time > b.time : a.name < b.name;
  });
  return images;
}

ImagesInRegistry images_in_registry(Services& services,
                                    const image::Reference& repository,
                                    const std::string& platform,
                                    std::size_t most) {
  const auto client = open_repository(services, repository, registry::Access::pull);
  ImagesInRegistry found;
  for (const auto& tag : client->tags()) {
    services.cancellation->throw_if_requested();
    const auto key = key_of_tag(tag);
    if (!key) {
      continue;
    }
    if (found.images.size() >= most) {
      ++found.left_out;
      continue;
    }
    const auto stored = client->image_manifest(tag, platform);
    if (!stored) {
      continue;  // it was removed meanwhile
    }
    const auto name = repository.with_tag(tag);
    const auto manifest =
        image::parse_manifest(stored->text, fmt::format("the manifest of `{}`", name));
    HeldImage one{.name = name,
                  .id = stored->digest.str(),
                  .is_whole = tag.starts_with("ap-"),
                  .is_ours = true,
                  .key = *key,
                  .size = manifest.config.size};
    for (const auto& layer : manifest.layers) {
      one.size += layer.size;
    }
    found.images.push_back(std::move(one));
  }
  return found;
}

}  // namespace autopack::inventory
