#pragma once

#include "base/digest.hpp"

#include <array>
#include <string>
#include <string_view>

namespace autopack {

/// A SHA-256 as 32 bytes, for tables and trees of many files; a Digest stores its text.
class ContentHash {
public:
  using Bytes = std::array<unsigned char, 32>;

  explicit ContentHash(const Bytes& bytes) : bytes_{bytes} {}

  // NOLINTNEXTLINE(google-explicit-constructor): the same value in another form
  ContentHash(const Digest& digest);

  const Bytes& bytes() const { return bytes_; }

  /// Returns the bytes as input for a hash.
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

  /// Returns the first `digits` of the 64 hexadecimal digits; `digits` must be even.
  std::string hex(std::size_t digits = 64) const;

  /// Returns `sha256:<hex>`.
  std::string str() const { return "sha256:" + hex(); }

  friend bool operator==(const ContentHash&, const ContentHash&) = default;

private:
  Bytes bytes_;
};

}  // namespace autopack
