#pragma once

#include "cli/command.hpp"
#include "cli/packaging_options.hpp"
#include "packaging/image_name.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// Under which names the images of a project stand, and which of them it would have now.
struct ProjectImages {
  packaging::ImageName name{};              ///< where `build` would put it
  std::vector<std::string> repositories{};  ///< that name's, and the one of `run`
  /// First 16 digits of the keys of the image and its dependencies; none when the project cannot be
  /// packaged as it is.
  std::optional<std::string> image_key{};
  std::optional<std::string> dependency_key{};

  bool is_current(const std::string& key) const {
    return key == image_key || key == dependency_key;
  }
};

/// Whether the keys are worked out, which reads the project and remembers what it read.
enum class Keys { known, open };

/// Asks no server but for what names the image.
ProjectImages find_project_images(Session& session,
                                  const PackagingOptions& packaging,
                                  const BuildOptions& build,
                                  Keys keys = Keys::known);

/// `5 s`, `3 min`, `2 h`, `8 days`.
std::string age_text(std::int64_t time, std::int64_t now);

}  // namespace autopack::cli
