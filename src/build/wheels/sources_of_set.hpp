#pragma once

#include "build/wheels/chosen_file.hpp"
#include "build/wheels/package_index.hpp"
#include "build/wheels/wheel_source.hpp"
#include "lock/locked_set.hpp"
#include "lock/select.hpp"
#include "packaging/packaging.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// The members of a set that must be built.
struct SourcesOfSet {
  std::map<std::size_t, WheelSource> found{};  ///< by position in the set
  std::vector<std::string> obstacles{};        ///< why one of them cannot be built, one line each
};

/// Returns WheelSource::identity of a source distribution.
std::string archive_identity(const std::string& file, const std::string& sha256);

/// Returns WheelSource::identity of a directory of the project; nothing if it has no files.
std::optional<std::string> identity_of_directory(const packaging::Packaging& work,
                                                 const std::string& directory);

/// Returns `file`, a source distribution of `package` in `index`, as the source of a wheel.
WheelSource source_of_archive(const std::shared_ptr<PackageIndex>& index,
                              const lock::LockedPackage& package,
                              const ChosenFile& file);

/// Returns the sources of `set`, whose files are `choices`: archives that are not wheels (fetched
/// when read), directories of the project, and commits of repositories.
SourcesOfSet sources_of(const packaging::Packaging& work,
                        const std::shared_ptr<PackageIndex>& index,
                        const lock::LockedSet& set,
                        const std::vector<std::optional<ChosenFile>>& choices);

/// Returns why `package` requires an engine, with its place and name if known; nothing if it does
/// not.
std::optional<std::string> obstacle_of(const lock::LockedPackage& package,
                                       const lock::FileChooser& files);

/// Returns the kind of a package that is known to have no wheel: `a source distribution`; nothing
/// otherwise.
std::optional<std::string> kind_of_source(const lock::LockedPackage& package,
                                          const lock::FileChooser& files);

}  // namespace autopack::build
