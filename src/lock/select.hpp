#pragma once

#include "lock/locked_set.hpp"
#include "python/tags.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace autopack::lock {

/// A file of a distribution, from a lock or an index.
struct Candidate {
  std::string name{};
  std::vector<python::Hash> hashes{};
  std::optional<std::string> requires_python{};  ///< conditions
  bool yanked{false};
};

/// The selected candidate.
struct Selection {
  std::optional<std::size_t> chosen{};  ///< its index
  std::optional<std::size_t> source{};  ///< index of a source distribution, if there is no wheel
  std::string reason{};                 ///< the reason why there is no wheel
  bool has_version{false};  ///< a candidate has the pinned version, though it may not fit
};

/// Selects files for one interpreter, as pip does for a pinned version. It prefers files known by a
/// hash, then those that are not yanked, then the highest version that the pin allows (`1.0` allows
/// `1.0+cpu`), then the best tag, the highest build tag, and the first one. It selects a source
/// distribution if no wheel fits.
class FileChooser {
public:
  explicit FileChooser(const python::Interpreter& interpreter);

  /// Selects among the candidates that indexes offer for `package`. If `package` has hashes, a file
  /// must have one of them. A file with unknown hashes is accepted; the download checks it.
  Selection choose(const LockedPackage& package, std::span<const Candidate> candidates) const;

  /// Selects among the files of `package` itself.
  Selection choose(const LockedPackage& package) const;

  /// Returns why no file can be used: the obstacle of `package` itself, or that no file fits.
  /// Returns nothing if one fits, or if its files are unknown until an index is asked.
  std::optional<std::string> obstacle(const LockedPackage& package) const;

private:
  bool is_for_python(const std::optional<std::string>& conditions) const;

  python::AcceptedTags tags_;
  python::Version version_;
  std::string target_;  ///< `cp311 manylinux_2_36_x86_64`
};

/// Returns the files of `package` as candidates.
std::vector<Candidate> candidates_of(const LockedPackage& package);

/// The dependencies in a wheel's METADATA.
struct Needs {
  std::vector<std::string> requirements{};  ///< its `Requires-Dist` lines
  std::optional<std::string> origin{};      ///< their source for messages; absent: the package
};

/// Returns the requirements of packages that `set` does not pin, or pins to another version: one
/// line each, empty if the set is complete. `needs` holds those of the chosen wheels by name (PEP
/// 503); a package without an entry has none. `project` holds those of the project itself.
/// Considers the extras of the set and those that packages request of each other; evaluates markers
/// for `interpreter`.
std::vector<std::string> missing_requirements(const LockedSet& set,
                                              const std::map<std::string, Needs>& needs,
                                              const Needs& project,
                                              const python::Interpreter& interpreter);

/// Returns the requirements of packages for a package that `set` lacks, one line each; takes
/// `needs`, extras and markers as missing_requirements does, but no versions.
std::vector<std::string> absent_requirements(const LockedSet& set,
                                             const std::map<std::string, Needs>& needs,
                                             const python::Interpreter& interpreter);

/// Returns the names of the packages that require each package of `set`, by its name (PEP 503).
/// Takes `needs`, extras and markers as missing_requirements does.
std::map<std::string, std::set<std::string>> requirers(const LockedSet& set,
                                                       const std::map<std::string, Needs>& needs,
                                                       const python::Interpreter& interpreter);

}  // namespace autopack::lock
