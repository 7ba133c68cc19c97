#pragma once

#include <string>
#include <string_view>

namespace autopack::python {

/// PEP 503: lower case, runs of `-`, `_` and `.` are one `-`, none at the ends.
std::string normalise_name(std::string_view name);

}  // namespace autopack::python
