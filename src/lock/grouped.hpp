#pragma once

#include "lock/document.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::lock {

/// True when a package of `groups` is taken: for one of `asked`, which are normalised.
bool is_in_groups(const std::vector<std::string>& groups, const std::vector<std::string>& asked);

/// The parts of a version of a lock's format, `4.5.0`: 4 and 5. Throws Error(project) for another
/// text.
std::pair<std::uint64_t, std::uint64_t> format_version(std::string_view text,
                                                       const std::string& place);

}  // namespace autopack::lock
