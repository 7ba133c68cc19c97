#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// The user's own package; none when the tree holds no setup.py, no pyproject.toml that builds
/// something or lists dependencies, and no setup.cfg that describes a package. The request's
/// `versions` tell the version of one that takes it from git.
std::optional<Package> read_package(Findings& findings, const Request& request);

/// Reads pyproject.toml into `package`; false when it holds the settings of tools only.
bool read_pyproject(Findings& findings, const Request& request, Package& package);

/// Reads setup.cfg and setup.py, as far as they are there, into `package`.
void read_setuptools(Findings& findings, Package& package);

/// True for names that setuptools leaves out when it looks for packages or modules by itself.
bool is_reserved_name(std::string_view name);

/// What setuptools would find by itself at the root of a tree: packages, else modules.
std::vector<std::string> discovered_packages(const Findings& findings);

/// The packages or modules at the root, where setuptools finds several by itself and so refuses to
/// build; empty where it does not. Directories without code and settings do not count.
std::vector<std::string> refused_by_setuptools(const Findings& findings);

}  // namespace autopack::project
