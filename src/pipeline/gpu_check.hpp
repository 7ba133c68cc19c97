#pragma once

#include "base/error.hpp"
#include "gpu/fit.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <string>
#include <vector>

namespace autopack::pipeline {

/// The GPU code that an image will contain, as far as somebody has read it.
struct GpuCode {
  struct Part {
    gpu::Package package{};
    bool is_of_executor{false};  ///< a part of the executor image, not of a wheel
  };

  std::vector<Part> parts{};
  std::vector<std::string> unread{};  ///< names of wheels
  bool has_unknown_wheels{false};     ///< which wheels the image contains is not known
  bool is_executor_unread{false};
};

/// Returns the GPU code of the image of `work`. Asks the target repository if there is one.
GpuCode find_gpu_code(Services& services, const packaging::Packaging& work);

/// Compares `code` with the devices of the request of `work`: a package that certainly cannot run
/// on one of them, one that the driver has to compile first. Reports what is not known as details.
Problems gpu_findings(Services& services, const packaging::Packaging& work, const GpuCode& code);

}  // namespace autopack::pipeline
