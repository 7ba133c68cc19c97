#pragma once

#include "engine/wheels/built_wheels.hpp"
#include "engine/wheels/chosen_file.hpp"
#include "engine/wheels/package_index.hpp"
#include "lock/locked_set.hpp"
#include "packaging/builder.hpp"
#include "packaging/packaging.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// Puts the wheel that is built from it in the place of each of `choices`, the files of `set`, that
/// is no wheel, and notes in `set` the names and versions that builds tell. What was built before
/// is taken, unless `freshness` is anew. Why that cannot be, one line each; empty when it is done.
/// Throws what a build throws.
std::vector<std::string> build_sources(const packaging::Packaging& work,
                                       const std::shared_ptr<PackageIndex>& index,
                                       const BuiltWheels& built,
                                       packaging::Freshness freshness,
                                       lock::LockedSet& set,
                                       std::vector<std::optional<ChosenFile>>& choices);

}  // namespace autopack::engine
