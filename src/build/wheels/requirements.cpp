#include "build/wheels/requirements.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"
#include "build/wheels/locked_requirements.hpp"
#include "build/wheels/own_package.hpp"
#include "lock/direct_reference.hpp"
#include "lock/pins.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace autopack::build {

namespace {

using packaging::Packaging;

/// Returns pip settings in the executor image that affect its pip: a file or a variable, except
/// those that do not select packages. Returns nothing if there are none.
std::optional<std::string> settings_of_pip(const image::BaseFacts& base,
                                           const executor::PythonFacts& facts) {
  static constexpr std::array harmless{"PIP_NO_CACHE_DIR",     "PIP_DISABLE_PIP_VERSION_CHECK",
                                       "PIP_ROOT_USER_ACTION", "PIP_BREAK_SYSTEM_PACKAGES",
                                       "PIP_DEFAULT_TIMEOUT",  "PIP_PROGRESS_BAR",
                                       "PIP_NO_INPUT",         "PIP_CACHE_DIR",
                                       "PIP_NO_COMPILE"};
  if (!facts.pip_files.empty()) {
    return facts.pip_files.front().path;
  }
  for (const auto& variable : base.environment) {
    const auto name = variable.substr(0, variable.find('='));
    if (name.starts_with("PIP_") && !contains(harmless, name)) {
      return name;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> obstacles_to_wheels(const Packaging& work) {
  const auto& plan = work.plan();
  const auto& dependencies = plan.dependencies;
  const auto& project = work.scanned().project;
  const auto& options = project.listed_options;
  const auto& variables = dependencies.install_environment;
  std::vector<std::string> obstacles;
  const auto note = [&](bool stands, const char* text) {
    if (stands) {
      obstacles.emplace_back(text);
    }
  };
  note(work.request().engine == packaging::Engine::docker, "`--engine=docker`");
  note(work.request().options.templates || plan.user_dockerfile,
       "a Dockerfile of the user's own says how they are installed");
  for (const auto& package : dependencies.apt_packages) {
    obstacles.push_back(fmt::format("`{}` is installed with apt-get", package));
  }
  note(plan.remove_sitecustomize, "the executor image needs a file removed");
  for (const auto& requirement : dependencies.requirements) {
    if (dependencies.lock) {
      obstacles.push_back(
          fmt::format("`{}` is not in `{}`", printable(requirement), dependencies.lock->file));
    }
  }
  if (const auto reason = obstacle_to_own_package(work)) {
    obstacles.push_back("the build of the project's own package has to run: " + *reason);
  }
  note(!dependencies.install &&
           !(dependencies.package_requirements.empty() && dependencies.build_requirements.empty()),
       "the project's own package determines the installation");
  note(project.has_index_credentials, "a URL in a requirements file contains a login");
  note(work.request().is_from_git() &&
           std::ranges::any_of(options,
                               [](const auto& option) { return option.name == "--find-links"; }),
       "`--find-links` names files that are not on the disk");
  note(std::ranges::any_of(variables,
                           [](const auto& variable) { return variable.first.starts_with("PIP_"); }),
       "`--build-env` sets a variable of pip");
  return obstacles;
}

Requirements find_requirements(const Packaging& work, executor::PythonFacts facts) {
  Requirements found{.facts = std::move(facts)};
  if (!found.facts.interpreter) {
    found.obstacles.push_back(found.facts.obstacle.value_or(""));
    return found;
  }
  if (auto setting = settings_of_pip(work.plan().base, found.facts)) {
    found.obstacles.push_back(
        fmt::format("the executor image has settings of pip, `{}`", *setting));
    return found;
  }
  if (work.plan().dependencies.lock) {
    found.set = read_locked(work, *found.facts.interpreter);
  } else {
    auto pins = lock::read_pins(work.scanned().project, *found.facts.interpreter,
                                work.plan().dependencies.package_requirements);
    found.set = std::move(pins.set);
    if (!found.set) {
      found.obstacles.push_back(std::move(pins.reason));
      return found;
    }
  }
  for (const auto& path : work.plan().dependencies.packages) {
    found.set->packages.push_back(lock::package_at(path, "extra-packages"));
  }
  return found;
}

}  // namespace autopack::build
