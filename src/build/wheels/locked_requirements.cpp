#include "build/wheels/locked_requirements.hpp"

#include "base/error.hpp"
#include "base/url.hpp"
#include "executor/python_facts.hpp"
#include "lock/locked_set.hpp"
#include "lock/readers.hpp"
#include "python/name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::build {

namespace {

constexpr auto* without_lock =
    "`--lock=none` installs the project's requirements, without the lock";

std::optional<std::string> pyproject_of(const source::Tree& tree) {
  const auto entry = tree.find("pyproject.toml");
  return entry && entry->type == source::EntryType::file ? std::optional{tree.read(entry->path)}
                                                         : std::nullopt;
}

lock::Target target_of(const packaging::Packaging& work, const python::Interpreter& interpreter) {
  const auto& lock = work.plan().dependencies.lock.value();
  const auto& package = work.scanned().project.package;
  return {.interpreter = interpreter,
          .extras = lock.extras,
          .groups = lock.groups,
          .project = package && package->name
                         ? std::optional{python::normalise_name(*package->name)}
                         : std::nullopt,
          .pyproject = pyproject_of(work.plan().working_directory())};
}

/// Throws `error` with an additional remedy that avoids the lock.
[[noreturn]] void throw_with_way_round(const Error& error, const std::string& other_way = "") {
  auto problems = error.as_problems();
  if (!other_way.empty()) {
    problems.back().hints.push_back(other_way);
  }
  problems.back().hints.emplace_back(without_lock);
  throw_if_errors(problems, error.kind());
  throw error;
}

}  // namespace

lock::LockedSet read_locked(const packaging::Packaging& work,
                            const python::Interpreter& interpreter) {
  try {
    return lock::read_lock(work.plan().working_directory(),
                           work.plan().dependencies.lock.value().file,
                           target_of(work, interpreter));
  } catch (const Error& error) {
    throw_with_way_round(error);
  }
}

void require_provided(const lock::LockedSet& set, const executor::PythonFacts& facts) {
  Problems problems;
  for (const auto& [name, version] : set.provided) {
    const auto there =
        std::ranges::find(facts.installed, name, &executor::InstalledDistribution::name);
    const auto installed = there == facts.installed.end() ? std::nullopt : there->version;
    if (!installed || python::Version::parse(*installed) != version) {
      problems.push_back(
          {.message = fmt::format("`{}` expects {} {} in the executor image, which has {}",
                                  set.origin, name, version.str(), installed.value_or("none")),
           .hints = {"autopack lock"}});
    }
  }
  throw_if_errors(problems, ErrorKind::project);
}

LockedRequirements locked_requirements(Services& services, const packaging::Packaging& work) {
  const auto facts =
      executor::python_facts(services, work.plan().base, executor::image_places(work.request()));
  const auto& file = work.plan().dependencies.lock.value().file;
  if (!facts.interpreter) {
    throw Error(
        ErrorKind::environment,
        fmt::format("the selection of `{}` depends on the Python of the executor image `{}`, "
                    "which is unknown",
                    file, work.plan().base.reference))
        .cause(facts.obstacle.value_or(""))
        .hint(without_lock);
  }
  const auto set = read_locked(work, *facts.interpreter);
  require_provided(set, facts);
  for (const auto& warning : set.warnings) {
    services.reporter->warn(warning);
  }
  try {
    LockedRequirements result{.text = lock::requirements_text(set)};
    for (const auto& index : lock::indexes_of(set)) {
      if (const auto url = Url::parse(index)) {
        result.hosts.push_back(url->host);
      }
    }
    return result;
  } catch (const Error& error) {
    throw_with_way_round(
        error, work.request().engine == packaging::Engine::docker
                   ? "`--engine=auto` needs no hash of a package that it builds into a wheel"
                   : "");
  }
}

}  // namespace autopack::build
