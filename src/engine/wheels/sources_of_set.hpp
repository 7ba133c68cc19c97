#pragma once

#include "engine/wheels/chosen_file.hpp"
#include "engine/wheels/package_index.hpp"
#include "engine/wheels/wheel_source.hpp"
#include "lock/locked_set.hpp"
#include "lock/select.hpp"
#include "packaging/packaging.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::engine {

/// What of a set has to be built.
struct SourcesOfSet {
  std::map<std::size_t, WheelSource> found{};  ///< by places in the set
  std::vector<std::string> obstacles{};        ///< why one of them cannot be, one line each
};

/// The sources of `set`, whose files are `choices`: archives that are no wheels, which are fetched
/// when they are read, directories of the project, and commits of repositories.
SourcesOfSet sources_of(const packaging::Packaging& work,
                        const std::shared_ptr<PackageIndex>& index,
                        const lock::LockedSet& set,
                        const std::vector<std::optional<ChosenFile>>& choices);

/// Why `package` takes an engine, with its place and its name as far as that is known; none when it
/// does not.
std::optional<std::string> obstacle_of(const lock::LockedPackage& package,
                                       const lock::FileChooser& files);

/// What `package` is, when it is known already to have no wheel: `a source distribution`; none
/// otherwise.
std::optional<std::string> kind_of_source(const lock::LockedPackage& package,
                                          const lock::FileChooser& files);

}  // namespace autopack::engine
