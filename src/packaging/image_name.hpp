#pragma once

#include "image/reference.hpp"

#include <string>

namespace autopack::packaging {

/// Where a packaged image goes.
struct ImageName {
  image::Reference reference{};  ///< the user's tag in `tag`
  bool has_registry{false};      ///< false: it stays in the daemon
  bool is_default{false};        ///< not the user's choice: its repository may be made
};

/// The tag of what was made last for running here.
inline constexpr auto* last_run_tag = "run";

/// `ap-` and the first 16 digits of `image_key`.
std::string key_tag(const std::string& image_key);

/// `apd-` and the first 16 digits of `dependency_key`.
std::string dependency_tag(const std::string& dependency_key);

}  // namespace autopack::packaging
