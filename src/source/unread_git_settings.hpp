#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"

#include <filesystem>
#include <optional>

namespace autopack::source {

/// Returns a warning if find_git_work_tree reads only ignore files and the index, because git would
/// not open the repository of `directory`: it is another user's, or damaged. Returns nothing if git
/// would open it, or if there is none.
std::optional<Problem> unread_git_settings(const std::filesystem::path& directory,
                                           const Environment& environment);

}  // namespace autopack::source
