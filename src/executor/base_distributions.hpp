#pragma once

#include "executor/python_facts.hpp"
#include "python/version.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// A distribution that is to be in the image.
struct WantedDistribution {
  std::string name{};  ///< PEP 503
  python::Version version{};
  bool anew{false};  ///< in place of the image's own even when that is of the same version
};

/// What becomes of a wanted distribution.
struct BaseDecision {
  enum class Action {
    install,       ///< the image has none, or one that an installation comes before
    keep,          ///< the image's own is what is wanted
    replace,       ///< the image's own goes, in place of it comes the wanted one
    keep_for_gpu,  ///< the image's own is another version, and belongs to its CUDA
    refuse,        ///< the image's own is another version, and can neither go nor be passed over
  };

  std::string name{};
  Action action{Action::install};
  /// Places in PythonFacts::installed: that which is kept, those which go, that which is in the
  /// way or is passed over. None when the image has none.
  std::vector<std::size_t> installed{};
  std::optional<std::string>
      reason{};  ///< of keep_for_gpu and refuse, and of install over the image's own
};

/// May the libraries that belong to an image's CUDA be replaced?
enum class GpuLibraries { kept, replaced };

/// What becomes of each of `wanted` on top of the image `base` with `facts`, in their order: as pip
/// decides it, but for libraries of a GPU base, which stay with GpuLibraries::kept.
std::vector<BaseDecision> decide_on_base(const image::BaseFacts& base,
                                         const PythonFacts& facts,
                                         const std::vector<WantedDistribution>& wanted,
                                         GpuLibraries libraries);

/// True for torch, tensorflow, jax, and what is released with them for a CUDA. `name` as PEP 503
/// has it.
bool belongs_to_gpu(std::string_view name);

}  // namespace autopack::executor
