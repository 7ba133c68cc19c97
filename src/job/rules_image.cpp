#include "base/text.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

namespace {

/// Returns NAME[:TAG] below vertex-ai/training, or nothing for another image.
std::optional<std::string_view> prebuilt_name(std::string_view image) {
  for (const std::string_view prefix :
       {"us-docker.pkg.dev/vertex-ai/training/", "europe-docker.pkg.dev/vertex-ai/training/",
        "asia-docker.pkg.dev/vertex-ai/training/"}) {
    if (image.starts_with(prefix) && image != prefix) {
      return image.substr(prefix.size());
    }
  }
  return std::nullopt;
}

}  // namespace

void check_prebuilt_image(const std::string& image, const std::string& path, Review& review) {
  const auto whole = prebuilt_name(image);
  if (!whole || review.options().skip_tables) {
    return;
  }
  const auto name = whole->substr(0, whole->find_first_of(":@"));
  const auto known = tables::prebuilt_images();
  const auto found =
      std::ranges::find_if(known, [&](const auto& candidate) { return candidate.name == name; });
  if (found == known.end()) {
    std::vector<std::string_view> names;
    for (const auto& candidate : known) {
      names.push_back(candidate.name);
    }
    review.warning(path, fmt::format("unknown prebuilt image `{}`{}", printable(name),
                                     tables::did_you_mean(name, names)));
    return;
  }
  const auto& today = review.options().today;
  if (today && found->end_of_availability < *today) {
    review.warning(path, fmt::format("prebuilt image `{}` was available until {}", name,
                                     found->end_of_availability));
  }
}

}  // namespace autopack::job
