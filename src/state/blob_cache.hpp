#pragma once

#include "base/digest.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::state {

/// Small blobs (manifests, configurations) by digest, in a directory of files. Content-addressed:
/// what is read is verified, so that several processes, a kill at any moment and a foreign file do
/// no harm. Failures to write are no errors.
class BlobCache {
public:
  /// `limit` bounds the directory, in bytes; the oldest files go first.
  explicit BlobCache(std::filesystem::path directory, std::uint64_t limit = 64'000'000)
      : directory_{std::move(directory)}, limit_{limit} {}

  /// None when it is not there or is not what its name says.
  std::optional<std::string> get(const Digest& digest) const;
  void put(std::string_view blob) const;

private:
  std::filesystem::path directory_;
  std::uint64_t limit_;
};

}  // namespace autopack::state
