#pragma once

#include "base/error.hpp"
#include "python/hash.hpp"
#include "python/interpreter.hpp"
#include "python/version.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace autopack::lock {

/// A wheel or a source distribution that a lock names.
struct LockedFile {
  std::string name{};                 ///< `numpy-1.26.4-cp311-...whl`
  std::optional<std::string> url{};   ///< none: an index knows it
  std::optional<std::string> path{};  ///< of the tree, when the file lies in it
  std::vector<python::Hash> hashes{};
  std::optional<std::uint64_t> size{};
};

/// What a package is built from that is no archive.
struct LockedSource {
  std::optional<std::string> directory{};  ///< of the tree; none: it is a repository
  std::string repository{};                ///< a URL of git, without a login
  std::string commit{};                    ///< its full name in hexadecimal digits
  std::optional<std::string> revision{};   ///< as it was asked for; none: by the commit
  std::string subdirectory{};  ///< of the repository that the package stands in; "" for its root

  bool operator==(const LockedSource&) const = default;
};

/// Which of its files an option allows to be taken: `--only-binary`, `--no-binary`.
enum class Formats { any, wheels, sources };

/// A distribution that a lock or a pin chooses.
struct LockedPackage {
  std::string name{};                        ///< PEP 503; empty when only a build tells it
  std::optional<python::Version> version{};  ///< none for what is built from a tree of files
  std::vector<std::string> extras{};         ///< asked for; PEP 503, sorted
  /// Of the files that may be taken when `files` is empty; empty: all.
  std::vector<python::Hash> hashes{};
  std::vector<LockedFile> files{};       ///< wheels and source distributions; empty: not named
  std::optional<LockedSource> source{};  ///< what it is built from, when no file of it is
  Formats formats{Formats::any};
  std::optional<std::string> index{};     ///< the only one to ask, without logins; none: any
  bool is_direct{false};                  ///< named by a URL or a path, so that no index has it
  bool requested{false};                  ///< named by the user, not only needed by others
  std::string place{};                    ///< `requirements.txt:3`
  std::optional<std::string> obstacle{};  ///< why it takes an engine, in words
};

/// What is to be installed, chosen by a lock or by pins; nothing is left to resolve.
struct LockedSet {
  std::string origin{};  ///< `uv.lock`
  bool hashed{false};    ///< every file is known by a hash
  /// False: whether the pins name all that the packages need is seen in their metadata alone; see
  /// missing_requirements.
  bool is_complete{false};
  std::vector<LockedPackage> packages{};  ///< each name once, in the order of their names
  Problems warnings{};
};

/// Whom a lock is read for.
struct Target {
  const python::Interpreter& interpreter;
  std::vector<std::string> extras{};       ///< of the project; PEP 503
  std::vector<std::string> groups{};       ///< of dependencies; PEP 503
  std::optional<std::string> project{};    ///< its name, PEP 503
  std::optional<std::string> pyproject{};  ///< the text of pyproject.toml
};

}  // namespace autopack::lock
