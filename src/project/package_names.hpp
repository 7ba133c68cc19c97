#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// PEP 503: lower case, runs of `-`, `_` and `.` are one `-`.
std::string normalise_name(std::string_view name);

/// True for `.whl`, `.zip`, `.tar.gz` and the other archives that pip installs.
bool is_archive_name(std::string_view name);

/// What is wrong with a wheel's file name; none when pip takes it.
std::optional<std::string> check_wheel_name(std::string_view name);

}  // namespace autopack::project
