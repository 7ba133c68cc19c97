#pragma once

#include "image/source.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::packaging {

/// A destination besides, or instead of, a registry: `oci:DIR[:TAG]`, `tar:FILE`, `bundle:DIR`,
/// `squashfs:FILE`, `docker`, or a function of this run.
struct Output {
  enum class Kind { layout, archive, bundle, squashfs, docker, taken };

  Kind kind{Kind::docker};
  std::filesystem::path path{};
  std::optional<std::string> tag{};                        ///< of a layout
  std::string text{};                                      ///< as the user wrote it
  std::function<void(const image::Source& image)> take{};  ///< of Kind::taken

  /// Throws Error(usage).
  static Output parse(std::string_view text);
};

}  // namespace autopack::packaging
