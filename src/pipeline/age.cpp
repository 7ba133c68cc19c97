#include "pipeline/age.hpp"

#include "image/manifest.hpp"
#include "plan/pinned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::pipeline {

AgeLimit::AgeLimit(const PackageRequest& request, const Scanned& scanned, const plan::Plan& plan)
    : limit_{request.max_dependency_age.value_or(std::chrono::seconds{0})},
      applies_{request.max_dependency_age && plan.user_dockerfile.empty() &&
               plan::has_unpinned(plan, scanned.project)},
      installed_after_code_{plan.dependencies.install && !request.options.templates.empty()} {}

bool AgeLimit::is_past(std::vector<std::int64_t> times,
                       bool is_dependency_image,
                       std::int64_t now) const {
  if (installed_after_code_ && !is_dependency_image && !times.empty()) {
    times.pop_back();  // the project itself
  }
  const auto newest = std::max_element(times.begin(), times.end());
  return newest == times.end() || now - *newest > limit_.count();
}

std::string AgeLimit::reason() const {
  struct Unit {
    std::int64_t seconds;
    const char* name;
  };

  static constexpr std::array units{Unit{86'400, "day"}, Unit{3'600, "hour"}, Unit{60, "minute"},
                                    Unit{1, "second"}};
  const auto* const unit = std::find_if(units.begin(), units.end(), [&](const Unit& candidate) {
    return limit_.count() % candidate.seconds == 0;
  });
  const auto count = limit_.count() / unit->seconds;
  return fmt::format("they are older than {} {}{}", count, unit->name, count == 1 ? "" : "s");
}

std::vector<std::int64_t> run_times(Services& services,
                                    registry::Repository& repository,
                                    const Digest& digest,
                                    const std::string& platform) {
  auto text = services.blob_cache.get(digest);
  if (!text || image::is_index(*text)) {
    const auto found = repository.image_manifest(digest.str(), platform);
    if (!found) {
      return {};
    }
    text = found->text;
    services.blob_cache.put(*text);
  }
  const auto config = image::parse_manifest(*text, "the manifest of the dependencies").config;
  auto configuration = services.blob_cache.get(config.digest);
  if (!configuration) {
    configuration = repository.read_blob(config);
    services.blob_cache.put(*configuration);
  }
  return image::Configuration::parse(*configuration, "the configuration of the dependencies")
      .run_times();
}

}  // namespace autopack::pipeline
