#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// Returns the error in `platform`, which comes from `origin`, or nothing if it is
/// `linux/ARCH[/VARIANT]` with a supported processor.
std::optional<Problem> platform_problem(const std::string& platform, const std::string& origin);

}  // namespace autopack::cli
