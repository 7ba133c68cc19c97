#pragma once

#include <toml++/toml.h>

#include <string_view>

namespace autopack::project {

/// Throws toml::parse_error, also for a key of more parts than anybody writes: each part is a table
/// inside the last, and such tables are taken apart by a call for each.
toml::table parse_toml(std::string_view text);

}  // namespace autopack::project
