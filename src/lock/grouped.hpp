#pragma once

#include "lock/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::lock {

/// True if a package of `groups` is needed for one of `asked`, which are normalised.
bool is_in_groups(const std::vector<std::string>& groups, const std::vector<std::string>& asked);

/// Returns the first two parts of a lock's format version: 4 and 5 for `4.5.0`. Throws
/// Error(project) for another text.
std::pair<std::uint64_t, std::uint64_t> format_version(std::string_view text,
                                                       const std::string& place);

}  // namespace autopack::lock
