#pragma once

#include "image/reference.hpp"

#include <string>

namespace autopack::packaging {

/// The destination of a packaged image.
struct ImageName {
  image::Reference reference{};  ///< the user's tag in `tag`
  bool has_registry{false};      ///< false: it stays in the engine
  bool is_default{false};        ///< not chosen by the user: its repository may be created
};

/// The tag of the last image made for a run on this machine.
inline constexpr auto* last_run_tag = "run";

/// Returns `ap-` and the first 16 digits of `image_key`.
std::string key_tag(const std::string& image_key);

/// Returns `apd-` and the first 16 digits of `dependency_key`.
std::string dependency_tag(const std::string& dependency_key);

}  // namespace autopack::packaging
