#pragma once

#include <string_view>

namespace autopack::project {

/// True for what can name a module: ASCII letters, digits (not first), `_`, and letters of other
/// scripts, whichever they are.
bool is_identifier(std::string_view name);

/// True for a top-level module of Python's own library, of any version from 3.7 to 3.14.
bool is_standard_module(std::string_view module);

}  // namespace autopack::project
