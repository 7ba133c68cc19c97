#pragma once

#include "lock/locked_set.hpp"
#include "packaging/builder.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace autopack::build {

/// The source of a wheel: an archive, a directory, or a repository.
struct WheelSource {
  std::string title{};     ///< for people: `counter` 0.5, or `vendor/lib`
  std::string kind{};      ///< for people: `a source distribution`
  std::string place{};     ///< for people, the requirement: `requirements.txt:3`
  std::string identity{};  ///< identifies its content
  std::string name{};      ///< the name for pip: a file's name, or the path of a directory

  std::function<std::filesystem::path()> archive{};  ///< fetches a file
  std::optional<std::string> directory{};            ///< in the requirements that a plan reads
  /// Reads the directory's files by their paths in it; nothing if there are too many, or other
  /// files than plain ones.
  std::function<std::optional<std::map<std::string, std::string>>()> files{};
  std::optional<lock::LockedSource> repository{};
};

/// Builds a source into the file `wheel`; returns the wheel's name. Throws as the build does.
using BuildWheel =
    std::function<std::string(const WheelSource& source, const std::filesystem::path& wheel)>;

/// Installs the project's own package and the members of its workspace, without what they require,
/// on the executor image. Writes the files that this wrote to `tar`, at their places; returns the
/// text of its plan::InstallRecord. Throws as the build does.
using InstallOwn = std::function<std::string(const std::filesystem::path& tar)>;

/// How to obtain wheels.
struct WheelPolicy {
  packaging::Freshness freshness{packaging::Freshness::cached};  ///< of choices and built wheels
  BuildWheel build{};        ///< for packages without a wheel; empty: they require an engine
  InstallOwn install_own{};  ///< for an own package that has to be built; empty: as above
};

}  // namespace autopack::build
