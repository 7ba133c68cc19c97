#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::preflight {

/// Returns the CUDA version in an image's name, `11.8` for `cuda11.8` or `-cu118`, or nothing if
/// there is none.
std::optional<std::string> cuda_version_in(std::string_view name);

}  // namespace autopack::preflight
