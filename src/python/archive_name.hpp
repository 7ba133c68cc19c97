#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::python {

/// Returns true for `.whl`, `.zip`, `.tar.gz` and the other archives that pip installs.
bool is_archive_name(std::string_view name);

/// Returns the error in a wheel's file name; nothing if pip accepts it.
std::optional<std::string> check_wheel_name(std::string_view name);

}  // namespace autopack::python
