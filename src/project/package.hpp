#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>

namespace autopack::project {

/// The user's own package; none when the tree holds no setup.py, no pyproject.toml that builds
/// something or lists dependencies, and no setup.cfg that describes a package.
std::optional<Package> read_package(Findings& findings);

/// Reads pyproject.toml into `package`; false when it holds the settings of tools only.
bool read_pyproject(Findings& findings, Package& package);

/// Reads setup.cfg and setup.py, as far as they are there, into `package`.
void read_setuptools(Findings& findings, Package& package);

/// The version of `package` comes from version control, which does not travel: `variable` pins it
/// for the build, and that is told.
void pin_version(Findings& findings,
                 Package& package,
                 const std::string& variable,
                 const std::string& origin);

/// What setuptools would find by itself at the root of a tree: packages, else modules.
std::vector<std::string> discovered_packages(const Findings& findings);

}  // namespace autopack::project
