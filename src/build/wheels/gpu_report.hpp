#pragma once

#include "build/wheels/gpu_code.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <optional>
#include <vector>

namespace autopack::build {

/// A wheel that an image contains, and its libraries with GPU code.
struct WheelGpuCode {
  InstalledWheel wheel;
  std::optional<std::vector<gpu::Library>> libraries{};  ///< absent: nobody has read it
};

/// Returns the wheels of the dependency image of `work`: those that were installed last time, else
/// those that a lock or a resolution names; nothing if neither is known here. Their code comes from
/// the cache, else from the target repository, else, if the request names devices, from a
/// cached wheel, which it reads.
std::optional<std::vector<WheelGpuCode>> gpu_code_of_wheels(Services& services,
                                                            const packaging::Packaging& work);

}  // namespace autopack::build
