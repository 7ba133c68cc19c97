#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::gpu {

/// The compute capability of a GPU, such as 9.0.
struct Capability {
  unsigned major{0};
  unsigned minor{0};

  auto operator<=>(const Capability&) const = default;  // NOLINT(modernize-use-nullptr)

  /// Returns `9.0`.
  std::string str() const;

  /// Returns nothing unless `text` is two numbers like `9.0`.
  static std::optional<Capability> parse(std::string_view text);
};

/// An architecture that GPU code was compiled for, such as `90a`.
struct Architecture {
  /// `a` code runs on exactly this architecture, `f` code in its family.
  enum class Variant { plain, specific, family };

  unsigned number{0};  ///< 10 * major + minor
  Variant variant{Variant::plain};

  auto operator<=>(const Architecture&) const = default;  // NOLINT(modernize-use-nullptr)

  Capability capability() const { return {.major = number / 10, .minor = number % 10}; }

  /// Returns `90a`.
  std::string str() const;

  /// Returns nothing unless `text` is a number from 10 to 999, with `a` or `f` or without.
  static std::optional<Architecture> parse(std::string_view text);
};

}  // namespace autopack::gpu
