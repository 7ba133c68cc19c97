#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::packaging {

/// A destination besides, or instead of, a registry: `oci:DIR[:TAG]`, `tar:FILE`, `docker`.
struct Output {
  enum class Kind { layout, archive, docker };

  Kind kind{Kind::docker};
  std::filesystem::path path{};
  std::optional<std::string> tag{};  ///< of a layout
  std::string text{};                ///< as the user wrote it

  /// Throws Error(usage).
  static Output parse(std::string_view text);
};

}  // namespace autopack::packaging
