#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::python {

/// The hash of a file in a lock, an index or `--hash`.
struct Hash {
  std::string algorithm{};  ///< `sha256`; in an index also `md5`
  std::string hex{};        ///< digits in lower case

  /// True for sha256, sha384 and sha512, which pip accepts where hashes are required.
  bool is_strong() const;

  /// Parses `sha256:...`; returns nothing for a hash that is not strong or has a wrong number of
  /// digits.
  static std::optional<Hash> parse(std::string_view text);

  /// Returns `sha256:...`.
  std::string str() const { return algorithm + ":" + hex; }

  bool operator==(const Hash&) const = default;
};

}  // namespace autopack::python
