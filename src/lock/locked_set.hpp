#pragma once

#include "base/error.hpp"
#include "python/hash.hpp"
#include "python/interpreter.hpp"
#include "python/version.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::lock {

/// A wheel or a source distribution in a lock.
struct LockedFile {
  std::string name{};                 ///< `numpy-1.26.4-cp311-...whl`
  std::optional<std::string> url{};   ///< absent: an index knows it
  std::optional<std::string> path{};  ///< in the tree; absent if the file is elsewhere
  std::vector<python::Hash> hashes{};
  std::optional<std::uint64_t> size{};
};

/// The source of a package that is not an archive.
struct LockedSource {
  std::optional<std::string> directory{};  ///< in the tree; absent: it is a repository
  std::string repository{};                ///< URL for git, without a login
  std::string commit{};                    ///< full hash in hexadecimal digits
  std::optional<std::string> revision{};   ///< as requested; absent: by the commit
  std::string subdirectory{};  ///< of the repository, contains the package; "" for its root

  bool operator==(const LockedSource&) const = default;
};

/// The kinds of files that `--only-binary` and `--no-binary` allow.
enum class Formats { any, wheels, sources };

/// A distribution that a lock or a pin selects.
struct LockedPackage {
  std::string name{};                        ///< PEP 503; empty if only a build determines it
  std::optional<python::Version> version{};  ///< absent if it is built from a source tree
  std::vector<std::string> extras{};         ///< requested; PEP 503, sorted
  /// Allowed hashes if `files` is empty; empty: all.
  std::vector<python::Hash> hashes{};
  /// wheels and source distributions; empty if the lock names none
  std::vector<LockedFile> files{};
  std::optional<LockedSource> source{};  ///< to build it from, if there is no file
  Formats formats{Formats::any};
  std::optional<std::string> index{};     ///< the only one to ask, without logins; absent: any
  bool is_direct{false};                  ///< specified by a URL or a path, so no index has it
  bool requested{false};                  ///< named by the user, not only a dependency
  std::string place{};                    ///< `requirements.txt:3`
  std::optional<std::string> obstacle{};  ///< the reason why it needs an engine
};

/// The distributions to install, as selected by a lock or by pins. Nothing is left to resolve.
struct LockedSet {
  std::string origin{};  ///< `uv.lock`
  bool hashed{false};    ///< every file has a hash
  /// False: only the packages' metadata show whether the pins include all dependencies; see
  /// missing_requirements.
  bool is_complete{false};
  std::vector<LockedPackage> packages{};  ///< unique and sorted by name
  /// Versions by name that the executor image must have, because the lock leaves them to it.
  std::map<std::string, python::Version> provided{};
  /// Packages (PEP 503) whose version the project chooses, whatever other packages require.
  std::set<std::string> overridden{};
  Problems warnings{};
};

/// The interpreter and the options for which a lock is read.
struct Target {
  const python::Interpreter& interpreter;
  std::vector<std::string> extras{};       ///< of the project; PEP 503
  std::vector<std::string> groups{};       ///< of dependencies; PEP 503
  std::optional<std::string> project{};    ///< its name (PEP 503)
  std::optional<std::string> pyproject{};  ///< contents of pyproject.toml
};

/// Returns the indexes of the packages in `set`, sorted and unique.
std::vector<std::string> indexes_of(const LockedSet& set);

/// Returns `set` as a requirements file for pip with `--no-deps --require-hashes`: the indexes in
/// addition to those of pip's settings, and a line `name==version --hash=...` for each package.
/// Throws Error(project) that lists all packages that pip cannot install by a hash from an index.
std::string requirements_text(const LockedSet& set);

}  // namespace autopack::lock
