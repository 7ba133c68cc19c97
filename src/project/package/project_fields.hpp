#pragma once

#include "project/toml.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

// Values of `[project]` that METADATA and entry_points.txt can contain. All functions throw
// Error(project) with the reason why only the build can determine them; `key` is that of the table.

/// Leaves it to the build, because of `reason`.
[[noreturn]] void leave_to_build(const std::string& reason);

/// Returns a line of printable text.
std::string line_of(const toml::node& node, std::string_view key);
/// Returns the lines of an array.
std::vector<std::string> lines_of(const toml::node& node, std::string_view key);
const toml::table& table_of(const toml::node& node, std::string_view key);

}  // namespace autopack::project
