#pragma once

#include "base/digest.hpp"
#include "state/store.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::state {

/// Caches small blobs (manifests, configurations) by digest in a directory of files. Verifies what
/// it reads, so that several processes, kills and foreign files do no harm. Ignores failures to
/// write.
class BlobCache {
public:
  /// `limit` is the size of the directory in bytes; the oldest files are removed first.
  explicit BlobCache(std::filesystem::path directory, std::uint64_t limit = 64'000'000)
      : store_{std::move(directory), limit} {}

  /// Returns nothing if the blob is absent or does not match its digest.
  std::optional<std::string> get(const Digest& digest) const;
  void put(std::string_view blob) const;

private:
  Store store_;
};

}  // namespace autopack::state
