#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::preflight {

/// The CUDA version that an image's name tells: `11.8` of `cuda11.8` or `-cu118`; none when it
/// tells none.
std::optional<std::string> cuda_version_in(std::string_view name);

}  // namespace autopack::preflight
