#pragma once

#include "base/error.hpp"
#include "gpu/fit.hpp"
#include "packaging/packaging.hpp"
#include "plan/import_walk.hpp"
#include "services/services.hpp"

#include <functional>
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

/// Returns true if a program that cannot run the GPU code of `package` certainly fails: it uses
/// torch, or imports another package with such code whenever it starts. `required` are the
/// distributions that the project's own requirements name. False for packages that can do without
/// a GPU, and for those of NVIDIA.
bool needs_gpu_code(const gpu::Package& package,
                    const std::vector<std::string>& required,
                    const std::vector<plan::OpenImport>& imports);

/// Returns the imports of the program that no file of the project provides.
using OpenImports = std::function<std::vector<plan::OpenImport>()>;

/// Compares `code` with the devices of the request of `work`: a package that cannot run on one of
/// them, which is certain as needs_gpu_code() says, and one that the driver has to compile first.
/// Calls `imports` only if a package cannot run. Reports what is not known as details.
Problems gpu_findings(Services& services,
                      const packaging::Packaging& work,
                      const GpuCode& code,
                      const OpenImports& imports);

}  // namespace autopack::pipeline
