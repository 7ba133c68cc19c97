#pragma once

#include "base/digest.hpp"
#include "packaging/image.hpp"
#include "pipeline/look_ahead.hpp"
#include "pipeline/planning.hpp"
#include "services/services.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// Returns the requested image, built or found, in its registry (or in the docker engine if it is
/// not pushed) and in the requested outputs; only in these if nothing is pushed.
packaging::Image package(Services& services,
                         const WantedPtr& wanted,
                         LookAhead::Mode mode = LookAhead::Mode::on);

/// The same for a program that runs here: the image stays in the engine, and a different one of the
/// last run under this name is removed.
packaging::Image package_for_running(Services& services, const WantedPtr& wanted);

/// The images of one project for several platforms, under one name.
struct ImageIndex {
  struct Entry {
    std::string platform{};
    packaging::Image image{};
  };

  std::string repository{};
  std::string tag{};               ///< `ap-<16 hex>`, from the images' tags
  std::optional<Digest> digest{};  ///< absent until it is stored somewhere
  bool is_pushed{false};           ///< false: only in layouts
  std::vector<Entry> images{};     ///< in the requested order

  /// Returns `repository@sha256:...`, or the digest if no registry has it.
  std::string uri() const { return is_pushed ? repository + "@" + digest->str() : digest->str(); }
};

/// Packages `all`, the same project for one platform each, as package() does, and puts the index of
/// the images into the registry and the requested layouts, also under the user's own tags; no
/// single image moves those. Throws Error(usage) with all obstacles before anything is made.
ImageIndex package_index(Services& services, const std::vector<WantedPtr>& all);

/// Returns the `image` object of `--format=json`: `platforms` contains that of each image.
nlohmann::json to_json(const ImageIndex& index);

/// Returns where the program uses CUDA: `train.py:12`, or nothing if it does not. Sends no request.
std::optional<std::string> find_gpu_use(Services& services, const WantedPtr& wanted);

/// Plans without engine and network, and reports all findings: throws what a build would refuse.
void check_offline(Services& services, const WantedPtr& wanted);

/// Returns the same findings without reporting them, including those that prevent a plan.
Problems find_offline(Services& services, const WantedPtr& wanted);

}  // namespace autopack::pipeline
