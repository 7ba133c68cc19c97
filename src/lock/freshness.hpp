#pragma once

#include "lock/locked_set.hpp"

#include <string>
#include <vector>

namespace autopack::lock {

/// What pyproject.toml asks for, without markers: `torch>=2,<3`, sorted, each once; of `[project]`
/// with all its extras. None when there is no such file or table, or when its build finds the
/// dependencies.
std::optional<std::vector<std::string>> asked_by_project(
    const std::optional<std::string>& pyproject);

/// `name` and the conditions in `specifiers` in the spelling of asked_by_project.
std::string plain_requirement(std::string_view name, std::string_view specifiers);

/// Warns when pyproject.toml names a distribution that no package of the lock at `file` has;
/// `names` are those of all its packages, `command` makes it anew.
void tell_missing_names(LockedSet& set,
                        const std::string& file,
                        const Target& target,
                        std::vector<std::string> names,
                        const std::string& command);

/// The warning that a lock is older than pyproject.toml, which asks for `requirement`.
Problem older_than_project(const std::string& file,
                           const std::string& requirement,
                           const std::string& command);

}  // namespace autopack::lock
