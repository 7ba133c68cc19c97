#pragma once

#include "build/wheels/built_wheels.hpp"
#include "build/wheels/chosen_file.hpp"
#include "build/wheels/sources_of_set.hpp"
#include "lock/locked_set.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// Puts the wheel of each of `sources`, cached or built by `built`, at its place in `choices`, the
/// files of `set`, and records in `set` the names and versions that builds determine. Returns the
/// obstacles, one line each; empty if it succeeds. Throws as a build does.
std::vector<std::string> build_sources(SourcesOfSet sources,
                                       const BuiltWheels& built,
                                       lock::LockedSet& set,
                                       std::vector<std::optional<ChosenFile>>& choices);

}  // namespace autopack::build
