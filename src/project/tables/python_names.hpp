#pragma once

#include <string_view>

namespace autopack::project {

/// Returns true for possible names of modules: ASCII letters, digits (not first), `_`, and any
/// letters of other scripts.
bool is_identifier(std::string_view name);

/// Returns true for a top-level module of the standard library, in any version from 3.7 to 3.14.
bool is_standard_module(std::string_view module);

}  // namespace autopack::project
