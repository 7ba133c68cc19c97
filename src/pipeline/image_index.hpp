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

}  // namespace autopack::pipeline
