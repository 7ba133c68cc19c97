#include "state/blob_cache.hpp"

namespace autopack::state {

std::optional<std::string> BlobCache::get(const Digest& digest) const {
  auto blob = store_.get(digest.hex());
  return blob && sha256(*blob) == digest ? blob : std::nullopt;
}

void BlobCache::put(std::string_view blob) const {
  store_.put(sha256(blob).hex(), blob);
}

}  // namespace autopack::state
