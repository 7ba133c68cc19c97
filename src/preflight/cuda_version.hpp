#pragma once

#include <string>
#include <string_view>

namespace autopack::preflight {

/// The CUDA version that an image's name tells: `11.8` of `cuda11.8` or `-cu118`; empty for none.
std::string cuda_version_in(std::string_view name);

}  // namespace autopack::preflight
