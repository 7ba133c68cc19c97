#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// What is wrong with `platform`, which comes from `origin`, as the platform of an image; none when
/// it is `linux/ARCH[/VARIANT]` of a processor that images are made for.
std::optional<Problem> platform_problem(const std::string& platform, const std::string& origin);

}  // namespace autopack::cli
