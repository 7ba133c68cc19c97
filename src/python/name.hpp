#pragma once

#include <string>
#include <string_view>

namespace autopack::python {

/// Normalises as in PEP 503: lower case, `-` for each run of `-`, `_` and `.`, none at the ends.
std::string normalise_name(std::string_view name);

}  // namespace autopack::python
