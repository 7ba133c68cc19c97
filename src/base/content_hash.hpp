#pragma once

#include "base/digest.hpp"

#include <array>
#include <string>
#include <string_view>

namespace autopack {

/// A SHA-256 as its 32 bytes, for tables and trees of many files; a Digest is its text.
class ContentHash {
public:
  using Bytes = std::array<unsigned char, 32>;

  explicit ContentHash(const Bytes& bytes) : bytes_{bytes} {}

  // NOLINTNEXTLINE(google-explicit-constructor): the same value in another form
  ContentHash(const Digest& digest);

  const Bytes& bytes() const { return bytes_; }

  /// The bytes as a text to hash.
  std::string_view view() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

  /// The first of the 64 hexadecimal digits, an even number of them.
  std::string hex(std::size_t digits = 64) const;

  /// `sha256:<hex>`.
  std::string str() const { return "sha256:" + hex(); }

  friend bool operator==(const ContentHash&, const ContentHash&) = default;

private:
  Bytes bytes_;
};

}  // namespace autopack
