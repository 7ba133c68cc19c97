#pragma once

#include "registry/client.hpp"

#include <cstdint>

namespace autopack::registry {

/// Reads a source once, from `skip` on, while it counts and (if `hashed`) hashes all of it.
class Pass {
public:
  /// Throws Error(internal) if the source ends before `skip`.
  Pass(const BlobSource& source, std::uint64_t skip, bool hashed, const Progress& progress);

  /// As a Reader.
  std::size_t read(char* buffer, std::size_t size);

  /// Returns the number of bytes so far, including skipped ones.
  std::uint64_t count() const { return count_; }

  /// Returns the digest of all bytes; valid at the end.
  Digest digest() { return hash_.finish(); }

private:
  std::size_t take(char* buffer, std::size_t size);

  Reader reader_;
  bool hashed_;
  const Progress& progress_;
  Sha256 hash_;
  std::uint64_t count_{0};
};

}  // namespace autopack::registry
