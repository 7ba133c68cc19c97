#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// The file that `autopack lock` writes.
inline constexpr auto* own_lock_file = "pylock.toml";
/// Headers of its tables.
inline constexpr auto* own_lock_table = "[tool.autopack]";
inline constexpr auto* own_lock_inputs = "[tool.autopack.inputs]";

/// Returns true for the text of a lock that `autopack lock` wrote.
bool is_own_lock(std::string_view text);

/// Returns the files that determine the requirements of `project`, with their SHA-256 or `absent`:
/// its requirement files with all that they name, those whose existence decides, the
/// `# /// script` block, and `more`.
std::map<std::string, std::string> inputs_of_own_lock(const source::Tree& tree,
                                                      const Project& project,
                                                      const std::vector<std::string>& more = {});

/// Returns the choices of `request` that change the lock, one line each.
std::vector<std::string> choices_of_own_lock(const Request& request);

/// Returns `torch==2.4.0` for each package that the lock `text` leaves to the executor image.
std::vector<std::string> provided_by_image(std::string_view text);

/// Returns the lock at the root that `autopack lock` wrote for the same files and choices; warns
/// and returns nothing if it is out of date. Also returns nothing if there is none, or if the
/// request wants none.
std::optional<Lock> own_lock(Findings& findings, const Request& request);

}  // namespace autopack::project
