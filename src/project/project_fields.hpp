#pragma once

#include "project/toml.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

// Values of `[project]`, as METADATA and entry_points.txt can hold them. All throw Error(project)
// whose message says why the build has to tell instead; `key` is that of the table.

/// Leaves it to the build, because of `reason`.
[[noreturn]] void leave_to_build(const std::string& reason);

/// A line of printable text.
std::string line_of(const toml::node& node, std::string_view key);
/// The lines of an array.
std::vector<std::string> lines_of(const toml::node& node, std::string_view key);
const toml::table& table_of(const toml::node& node, std::string_view key);

}  // namespace autopack::project
