#pragma once

#include "base/digest.hpp"
#include "packaging/image.hpp"
#include "pipeline/package.hpp"
#include "services/services.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// The images of one project for several platforms, under one name.
struct ImageIndex {
  struct Entry {
    std::string platform{};
    packaging::Image image{};
  };

  std::string repository{};
  std::string tag{};               ///< `ap-<16 hex>`, from those of the images
  std::optional<Digest> digest{};  ///< none until it is somewhere
  bool is_pushed{false};           ///< false: layouts alone have it
  std::vector<Entry> images{};     ///< in the order wanted

  /// `repository@sha256:...`, or the digest when no registry has it.
  std::string uri() const { return is_pushed ? repository + "@" + digest->str() : digest->str(); }
};

/// Packages `all`, the same project for one platform each, as package() does, and brings the index
/// that names the images to the registry and the layouts that are wanted, under the user's own tags
/// too; no single image moves those. Throws Error(usage) with everything that stands against it
/// before anything is made.
ImageIndex package_index(Services& services, const std::vector<WantedPtr>& all);

/// The `image` object of `--format=json`: `platforms` holds that of each image.
nlohmann::json to_json(const ImageIndex& index);

}  // namespace autopack::pipeline
