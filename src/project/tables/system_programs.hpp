#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns the Debian package that contains `program`: `imagemagick` for `convert`, or nothing if
/// it is unknown. No package of pip provides these.
std::optional<std::string_view> package_of_program(std::string_view program);

/// Returns whether one of the Debian `packages` contains `program`; nothing if one of them is
/// unknown.
std::optional<bool> is_in_packages(std::string_view program,
                                   const std::vector<std::string>& packages);

/// Returns the distribution (PEP 503 name) with the console script `program`: `torch` for
/// `torchrun`, or nothing if it is unknown.
std::optional<std::string_view> distribution_of_program(std::string_view program);

}  // namespace autopack::project
