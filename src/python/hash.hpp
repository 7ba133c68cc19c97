#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::python {

/// A hash of a file as locks, indexes and `--hash` give it.
struct Hash {
  std::string algorithm{};  ///< `sha256`; of an index also `md5`
  std::string hex{};        ///< digits, lower case

  /// True for sha256, sha384 and sha512, which pip takes where hashes are required.
  bool is_strong() const;

  /// Reads `sha256:...`; none for what is not strong, and for a wrong number of digits.
  static std::optional<Hash> parse(std::string_view text);

  /// `sha256:...`.
  std::string str() const { return algorithm + ":" + hex; }

  bool operator==(const Hash&) const = default;
};

}  // namespace autopack::python
