#include "build/wheels/build_sources.hpp"

#include "base/error.hpp"
#include "base/text.hpp"
#include "python/wheel_name.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace autopack::build {

namespace {

/// Sets the names and versions that builds determine. Returns the errors, one line each.
std::vector<std::string> settle_names(const std::map<std::size_t, WheelSource>& sources,
                                      const std::vector<std::optional<ChosenFile>>& choices,
                                      lock::LockedSet& set) {
  std::vector<std::string> faults;
  for (const auto& [i, source] : sources) {
    const auto said = python::WheelName::parse(choices[i]->name).value();
    auto& package = set.packages[i];
    if ((!package.name.empty() && package.name != said.name) ||
        (package.version && package.version->without_local() != said.version.without_local())) {
      faults.push_back(fmt::format("{}: {} gives a wheel of `{}` {}", package.place, source.title,
                                   said.name, said.version.str()));
    }
    package.name = said.name;
    package.version = said.version;
  }
  std::map<std::string, std::string> places;
  for (const auto& package : set.packages) {
    if (const auto [same, is_new] = places.emplace(package.name, package.place); !is_new) {
      faults.push_back(
          fmt::format("{}: `{}` is in {}, too", package.place, package.name, same->second));
    }
  }
  return faults;
}

/// Returns `` `counter` 0.5 (a source distribution), `lib` (a directory of sources)``.
std::string named(const std::map<std::size_t, WheelSource>& sources,
                  const std::vector<std::size_t>& places) {
  std::vector<std::string> names;
  for (const std::size_t i : places) {
    names.push_back(fmt::format("{} ({})", sources.at(i).title, sources.at(i).kind));
  }
  return join(names, ", ");
}

}  // namespace

std::vector<std::string> build_sources(SourcesOfSet sources,
                                       const BuiltWheels& built,
                                       lock::LockedSet& set,
                                       std::vector<std::optional<ChosenFile>>& choices) {
  auto [found, obstacles] = std::move(sources);
  std::vector<std::size_t> missing;
  for (const auto& [i, source] : found) {
    choices[i] = built.find(source);
    if (choices[i]) {
      continue;
    }
    missing.push_back(i);
    if (!built.can_build()) {
      obstacles.push_back(fmt::format("{}: {} is {}, which has to be built", set.packages[i].place,
                                      source.title, source.kind));
    }
  }
  if (!obstacles.empty()) {
    return std::move(obstacles);
  }
  try {
    for (const std::size_t i : missing) {
      choices[i] = built.build(found.at(i));
    }
  } catch (Error& error) {
    if (error.kind() == ErrorKind::environment) {
      error.wrap("only an engine can build " + named(found, missing));
    }
    throw;
  }
  return settle_names(found, choices, set);
}

}  // namespace autopack::build
