#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::python {

/// A version as PEP 440 has it, whatever way it was spelled.
struct Version {
  enum class Stage { alpha, beta, candidate };

  /// `a1`, `b2`, `rc3`.
  struct Prerelease {
    Stage stage{Stage::alpha};
    std::uint64_t number{0};

    auto operator<=>(const Prerelease&) const = default;
  };

  std::uint64_t epoch{0};
  std::vector<std::uint64_t> release{};  ///< as written: `1.0` and `1` differ here, not in order
  std::optional<Prerelease> pre{};
  std::optional<std::uint64_t> post{};
  std::optional<std::uint64_t> dev{};
  std::vector<std::string> local{};  ///< lower case; numbers without leading zeros

  /// None when `text` is no version, or holds a number of more than 18 digits. White space around
  /// it and a leading `v` do not count.
  static std::optional<Version> parse(std::string_view text);

  /// The normal form: `1!2.0rc1.post2.dev3+ubuntu.1`.
  std::string str() const;

  /// True for a development release too.
  bool is_prerelease() const { return pre.has_value() || dev.has_value(); }

  /// Without the local part.
  Version without_local() const;
  /// Epoch and release alone.
  Version base() const;

  /// PEP 440's order: `1.0.dev1 < 1.0a1 < 1.0 == 1 < 1.0+x < 1.0.post1`.
  std::strong_ordering operator<=>(const Version& other) const;

  bool operator==(const Version& other) const { return std::is_eq(*this <=> other); }
};

}  // namespace autopack::python
