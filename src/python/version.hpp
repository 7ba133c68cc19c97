#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::python {

/// A version of PEP 440, in any spelling.
struct Version {
  enum class Stage { alpha, beta, candidate };

  /// `a1`, `b2`, `rc3`.
  struct Prerelease {
    Stage stage{Stage::alpha};
    std::uint64_t number{0};

    auto operator<=>(const Prerelease&) const = default;
  };

  std::uint64_t epoch{0};
  /// as written: `1.0` and `1` have different release numbers but compare equal
  std::vector<std::uint64_t> release{};
  std::optional<Prerelease> pre{};
  std::optional<std::uint64_t> post{};
  std::optional<std::uint64_t> dev{};
  std::vector<std::string> local{};  ///< lower case; numbers without leading zeros

  /// Returns nothing if `text` is not a version, or has a number of more than 18 digits. Ignores
  /// white space around it and a leading `v`.
  static std::optional<Version> parse(std::string_view text);

  /// Returns the normal form: `1!2.0rc1.post2.dev3+ubuntu.1`.
  std::string str() const;

  /// Also true for a development release.
  bool is_prerelease() const { return pre.has_value() || dev.has_value(); }

  /// Without the local part.
  Version without_local() const;
  /// Returns only epoch and release.
  Version base() const;

  /// PEP 440's order: `1.0.dev1 < 1.0a1 < 1.0 == 1 < 1.0+x < 1.0.post1`.
  std::strong_ordering operator<=>(const Version& other) const;

  bool operator==(const Version& other) const { return std::is_eq(*this <=> other); }
};

}  // namespace autopack::python
