#include "cli/project_images.hpp"

#include "base/error.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/planning.hpp"
#include "pipeline/scan.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::cli {

namespace {

constexpr std::size_t digits{16};

/// Unknown facts of the executor image are not an error: then no image is current.
void find_keys(Session& session, const packaging::Request& request, ProjectImages& images) {
  try {
    const auto wanted = pipeline::scan_wanted(request);
    const auto facts = executor::facts_at_hand(session.services, wanted->request);
    if (!facts) {
      session.console.detail(
          "which image is current is not known: the executor image is not known");
      return;
    }
    const auto work = pipeline::plan_packaging(session.services, wanted, *facts);
    const auto& keys = work.plan().keys.value();
    images.image_key = keys.image.substr(0, digits);
    images.dependency_key = keys.dependencies.substr(0, digits);
  } catch (const Error& error) {
    session.console.detail(fmt::format("which image is current is not known: {}", error.what()));
  }
}

}  // namespace

ProjectImages find_project_images(Session& session,
                                  const PackagingOptions& packaging,
                                  const BuildOptions& build,
                                  Keys keys) {
  const auto request =
      package_request(packaging, build, session.flags, session.services.environment);
  ProjectImages images{.name = image_name(packaging, request, find_location(session))};
  images.repositories = {images.name.reference.repository()};
  const auto of_run = image_name(packaging, request, {}).reference.repository();
  if (of_run != images.repositories.front()) {
    images.repositories.push_back(of_run);
  }
  if (keys == Keys::known) {
    find_keys(session, request, images);
  }
  return images;
}

std::string age_text(std::int64_t time, std::int64_t now) {
  constexpr std::int64_t minute{60};
  constexpr std::int64_t hour{60 * minute};
  constexpr std::int64_t day{24 * hour};
  const auto age = std::max<std::int64_t>(now - time, 0);
  if (age < 2 * minute) {
    return fmt::format("{} s", age);
  }
  if (age < 2 * hour) {
    return fmt::format("{} min", age / minute);
  }
  return age < 2 * day ? fmt::format("{} h", age / hour) : fmt::format("{} days", age / day);
}

}  // namespace autopack::cli
