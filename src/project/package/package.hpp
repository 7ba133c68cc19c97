#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns the user's own package; nothing if the tree has no setup.py, no pyproject.toml that
/// builds something or lists dependencies, and no setup.cfg that describes a package. The request's
/// `versions` determine a version that comes from git.
std::optional<Package> read_package(Findings& findings, const Request& request);

/// Reads pyproject.toml into `package`; returns false if it contains only settings of tools.
bool read_pyproject(Findings& findings, const Request& request, Package& package);

/// Reads the existing ones of setup.cfg and setup.py into `package`.
void read_setuptools(Findings& findings, Package& package);

/// Returns true for names that setuptools excludes from its automatic discovery of packages and
/// modules.
bool is_reserved_name(std::string_view name);

/// Returns true for a section of setup.cfg that only other tools read.
bool is_of_other_tools(std::string_view section);

/// Returns what setuptools would discover at the root of a tree: packages, else modules.
std::vector<std::string> discovered_packages(const Findings& findings);

/// Returns the packages or modules at the root if setuptools discovers several and so refuses to
/// build; otherwise empty. Ignores directories without code, and settings.
std::vector<std::string> refused_by_setuptools(const Findings& findings);

}  // namespace autopack::project
