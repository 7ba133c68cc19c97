#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// In the order of preference.
enum class LockFormat { pylock, uv, poetry, pdm, pipfile };

/// The format of the lock at `path`, by its name; none for another name.
std::optional<LockFormat> lock_format(std::string_view path);

/// The locks at the root of `tree`, the preferred one first: `pylock.toml`, `pylock.NAME.toml` by
/// name, `uv.lock`, `poetry.lock`, `pdm.lock`, `Pipfile.lock`.
std::vector<std::string> find_locks(const source::Tree& tree);

/// True when the request names a lock.
bool names_lock(const Request& request);

/// The lock that the request names; none, with what is wrong in `findings`, when it is not one of
/// the tree.
std::optional<Lock> named_lock(Findings& findings, const Request& request);

/// The preferred one of the locks that no rule leaves out; none when there is none, when the
/// request wants none, when a workspace is installed, whose packages are not in a lock, or when its
/// text shows that it leaves something to its tool or has packages of no index. What is not taken
/// is told.
std::optional<Lock> found_lock(Findings& findings, const Request& request, const Project& project);

/// Warns of the preferred lock at the root, which nobody named, beside the requirement files
/// `files` that are installed, and of which of the `names` in them it lacks.
void report_lock_beside(Findings& findings,
                        const Request& request,
                        const std::vector<std::string>& files,
                        const std::vector<std::string>& names);

/// True when a look at the text of the lock at `file`, whose name is a lock's, shows a package that
/// comes from elsewhere than an index.
bool has_packages_of_no_index(const std::string& file, std::string_view text);

/// The directories of sources that the text of the lock at `file` names, as paths of the tree, but
/// for the lock's own and those outside of the tree; empty when it cannot be read.
std::vector<std::string> directories_in_lock(const std::string& file, std::string_view text);

/// The names (PEP 503) of the packages in the text of a lock, those that are not chosen among them.
std::vector<std::string> names_in_lock(std::string_view text);

}  // namespace autopack::project
