#pragma once

#include "executor/image_view.hpp"
#include "executor/python_facts.hpp"
#include "python/version.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::executor {

/// A distribution required in the image.
struct WantedDistribution {
  std::string name{};  ///< PEP 503
  python::Version version{};
  bool anew{false};  ///< replace the image's own even if it has the same version
};

/// The decision about a required distribution.
struct BaseDecision {
  enum class Action {
    install,       ///< the image has none, or an installation takes precedence over it
    keep,          ///< the image's own satisfies the requirement
    replace,       ///< the required one replaces the image's own
    keep_for_gpu,  ///< keep the image's own of another version, because it belongs to its CUDA
    refuse,        ///< the image's own has another version, and can be neither removed nor shadowed
  };

  std::string name{};
  Action action{Action::install};
  /// Indexes of PythonFacts::installed: the kept one, the removed ones, or the one that conflicts
  /// or is shadowed. Empty if the image has none.
  std::vector<std::size_t> installed{};
  std::optional<std::string>
      reason{};  ///< for keep_for_gpu and refuse, and for install over the image's own
};

/// Whether the libraries of an image's CUDA may be replaced.
enum class GpuLibraries { kept, replaced };

/// Decides about each of `wanted` on top of the image `base` with `facts`, in their order, as pip
/// does; except that GpuLibraries::kept keeps libraries of a GPU base.
std::vector<BaseDecision> decide_on_base(const image::BaseFacts& base,
                                         const PythonFacts& facts,
                                         const std::vector<WantedDistribution>& wanted,
                                         GpuLibraries libraries);

/// Returns true for torch, tensorflow, jax, and packages released with them for a CUDA. `name` is
/// normalised by PEP 503.
bool belongs_to_gpu(std::string_view name);

/// Distributions and their files, in the order of sys.path.
struct FoundDistributions {
  std::vector<InstalledDistribution> installed{};
  InstalledFiles files{};                ///< of each distribution
  InstalledRequirements requirements{};  ///< of each distribution
  /// The directories that were searched: the given ones, and those in `.pth` files.
  std::vector<std::string> search_path{};
};

/// Returns the distributions in `search_path`. Its last directories are the `site_directories`,
/// whose `.pth` files apply. A distribution in the directories of `scheme` can be removed if there
/// is a list of its files.
FoundDistributions find_distributions(ImageView& view,
                                      const std::vector<std::string>& search_path,
                                      const std::vector<std::string>& site_directories,
                                      const python::Scheme& scheme);

}  // namespace autopack::executor
