#pragma once

#include "engine/wheels/built_wheels.hpp"
#include "engine/wheels/chosen_file.hpp"
#include "engine/wheels/sources_of_set.hpp"
#include "lock/locked_set.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Puts the wheel of each of `sources`, which `built` has or builds, in its place of `choices`, the
/// files of `set`, and notes in `set` the names and versions that builds tell. Why that cannot be,
/// one line each; empty when it is done. Throws what a build throws.
std::vector<std::string> build_sources(SourcesOfSet sources,
                                       const BuiltWheels& built,
                                       lock::LockedSet& set,
                                       std::vector<std::optional<ChosenFile>>& choices);

}  // namespace autopack::engine
