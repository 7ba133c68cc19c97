#pragma once

#include "lock/locked_set.hpp"

#include <string>
#include <vector>

namespace autopack::lock {

/// Returns the dependencies in pyproject.toml without markers, such as `torch>=2,<3`, sorted and
/// unique; those of `[project]` with all its extras. Returns nothing if there is no such file or
/// table, or if the build determines the dependencies.
std::optional<std::vector<std::string>> asked_by_project(
    const std::optional<std::string>& pyproject);

/// Returns `name` and the conditions in `specifiers`, spelled as in asked_by_project.
std::string plain_requirement(std::string_view name, std::string_view specifiers);

/// Warns if pyproject.toml names a distribution that no package of the lock at `file` has. `names`
/// are those of all its packages; `command` makes the lock again.
void report_missing_names(LockedSet& set,
                          const std::string& file,
                          const Target& target,
                          std::vector<std::string> names,
                          const std::string& command);

/// Returns the warning that a lock is older than pyproject.toml, which asks for `requirement`.
Problem older_than_project(const std::string& file,
                           const std::string& requirement,
                           const std::string& command);

}  // namespace autopack::lock
