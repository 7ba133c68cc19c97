#include "base/parallel.hpp"

#include "registry/client.hpp"

#include <mutex>

namespace autopack::registry {

std::vector<PushedBlob> push_blobs(
    Repository& repository,
    std::span<const Blob> blobs,
    const std::function<void(std::size_t index, std::uint64_t bytes)>& progress,
    std::size_t connections,
    const std::function<void(std::size_t index, const PushedBlob& blob)>& ended) {
  std::vector<std::optional<PushedBlob>> results(blobs.size());
  std::mutex mutex;
  in_parallel(blobs.size(), connections, [&](std::size_t i, const Stop& stop) {
    results[i] = repository.push_blob(blobs[i], [&](std::uint64_t bytes) {
      stop.throw_if_requested();
      if (progress) {
        const std::scoped_lock lock{mutex};
        progress(i, bytes);
      }
    });
    if (ended) {
      const std::scoped_lock lock{mutex};
      ended(i, *results[i]);
    }
  });
  std::vector<PushedBlob> pushed;
  for (auto& result : results) {
    pushed.push_back(std::move(result).value());
  }
  return pushed;
}

}  // namespace autopack::registry
