#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "python/requirement.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// In the order of preference.
enum class LockFormat { pylock, uv, poetry, pdm, pipfile };

/// Returns the format of the lock at `path`, by its name; nothing for other names.
std::optional<LockFormat> lock_format(std::string_view path);

/// Returns the locks at the root of `tree`, the preferred one first: `pylock.toml`,
/// `pylock.NAME.toml` by name, `uv.lock`, `poetry.lock`, `pdm.lock`, `Pipfile.lock`.
std::vector<std::string> find_locks(const source::Tree& tree);

/// Returns true if the request names a lock.
bool names_lock(const Request& request);

/// Returns the lock that the request names; if it is not in the tree, reports errors in `findings`
/// and returns nothing.
std::optional<Lock> named_lock(Findings& findings, const Request& request);

/// Returns the preferred lock that no rule excludes. Returns nothing if there is none, if the
/// request wants none, if a workspace is installed (a lock does not contain its packages), or if
/// its text shows that it leaves something to its tool or has packages without an index. Reports
/// locks that are not used.
std::optional<Lock> found_lock(Findings& findings, const Request& request, const Project& project);

/// Requirement files that nobody named.
struct FoundRequirements {
  std::vector<std::string> files{};
  std::vector<python::Requirement> requirements{};  ///< in them
  bool may_be_replaced{false};                      ///< they have nothing that no lock has
};

/// Returns `pylock.toml` at the root if another tool wrote it, `found` may be replaced, and the
/// lock has a version that each requirement allows. Otherwise warns about the preferred lock at the
/// root, with what it lacks, and returns nothing: other locks describe a project of their tool, and
/// no lock shows whether it has extras, a URL or a path.
std::optional<Lock> lock_beside(Findings& findings,
                                const Request& request,
                                const FoundRequirements& found);

/// Returns true if the text of the lock at `file`, which must have a lock's name, contains a
/// package that does not come from an index.
bool has_packages_of_no_index(const std::string& file, std::string_view text);

/// Returns the source directories in the text of the lock at `file`, as paths of the tree, except
/// the lock's own and those outside of the tree; empty if it cannot be read.
std::vector<std::string> directories_in_lock(const std::string& file, std::string_view text);

/// Returns the names (PEP 503) of all packages in the text of a lock, including those that are not
/// selected.
std::vector<std::string> names_in_lock(std::string_view text);

}  // namespace autopack::project
