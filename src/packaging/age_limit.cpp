#include "packaging/age_limit.hpp"

#include "plan/pinned.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::packaging {

AgeLimit::AgeLimit(const Request& request, const project::Project& project, const plan::Plan& plan)
    : limit_{request.max_dependency_age.value_or(std::chrono::seconds{0})},
      applies_{request.max_dependency_age && !plan.user_dockerfile &&
               plan::has_unpinned(plan, project)},
      installed_after_code_{plan.dependencies.install && request.options.templates} {}

bool AgeLimit::is_past(std::vector<std::int64_t> times,
                       bool is_dependency_image,
                       std::int64_t now) const {
  if (installed_after_code_ && !is_dependency_image && !times.empty()) {
    times.pop_back();  // the project itself
  }
  const auto newest = std::ranges::max_element(times);
  return newest == times.end() || now - *newest > limit_.count();
}

std::string AgeLimit::reason() const {
  struct Unit {
    std::int64_t seconds;
    const char* name;
  };

  static constexpr std::array units{Unit{86'400, "day"}, Unit{3'600, "hour"}, Unit{60, "minute"},
                                    Unit{1, "second"}};
  const auto* const unit = std::ranges::find_if(
      units, [&](const Unit& candidate) { return limit_.count() % candidate.seconds == 0; });
  const auto count = limit_.count() / unit->seconds;
  return fmt::format("they are older than {} {}{}", count, unit->name, count == 1 ? "" : "s");
}

}  // namespace autopack::packaging
