#include "state/blob_cache.hpp"

#include "state/cache_files.hpp"

namespace autopack::state {

std::optional<std::string> BlobCache::get(const Digest& digest) const {
  auto blob = read_quietly(directory_ / digest.hex());
  return blob && sha256(*blob) == digest ? blob : std::nullopt;
}

void BlobCache::put(std::string_view blob) const {
  write_quietly(directory_ / sha256(blob).hex(), blob, limit_);
}

}  // namespace autopack::state
