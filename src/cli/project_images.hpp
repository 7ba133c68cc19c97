#pragma once

#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "packaging/image_name.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The names of a project's images, and the keys of its current ones.
struct ProjectImages {
  packaging::ImageName name{};              ///< the image of `build`
  std::vector<std::string> repositories{};  ///< those of that name and of `run`
  /// First 16 digits of the keys of the image and its dependencies; absent if the project cannot be
  /// packaged as it is.
  std::optional<std::string> image_key{};
  std::optional<std::string> dependency_key{};

  bool is_current(const std::string& key) const {
    return key == image_key || key == dependency_key;
  }
};

/// Whether to compute the keys, which reads the project and caches it.
enum class Keys { known, open };

/// Sends no request, except to find the image's name.
ProjectImages find_project_images(Session& session,
                                  const PackagingOptions& packaging,
                                  const BuildOptions& build,
                                  Keys keys = Keys::known);

/// Returns `5 s`, `3 min`, `2 h`, `8 days`.
std::string age_text(std::int64_t time, std::int64_t now);

}  // namespace autopack::cli
