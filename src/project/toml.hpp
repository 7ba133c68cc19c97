#pragma once

#include <toml++/toml.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

inline constexpr std::size_t largest_toml{std::size_t{4} << 20U};

/// Throws toml::parse_error, also for more than `largest` bytes and for a key with absurdly many
/// parts: each part is a nested table, and these are destroyed recursively.
toml::table parse_toml(std::string_view text, std::size_t largest = largest_toml);

/// Returns a string, or the strings of an array; nothing for other values.
std::vector<std::string> strings_of(const toml::node_view<const toml::node>& value);

}  // namespace autopack::project
