#include "base/background.hpp"
#include "registry/client.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

namespace autopack::registry {

namespace {

/// State that the threads share.
struct Work {
  std::mutex mutex{};
  std::atomic<std::size_t> next{0};
  std::atomic<bool> stop{false};
  std::exception_ptr failure{};

  void fail(std::exception_ptr reason) {
    const std::scoped_lock lock{mutex};
    stop = true;
    failure = failure ? failure : std::move(reason);
  }
};

}  // namespace

std::vector<PushedBlob> push_blobs(
    Repository& repository,
    std::span<const Blob> blobs,
    const std::function<void(std::size_t index, std::uint64_t bytes)>& progress,
    std::size_t connections,
    const std::function<void(std::size_t index, const PushedBlob& blob)>& ended) {
  std::vector<std::optional<PushedBlob>> results(blobs.size());
  Work work;
  const auto run = [&] {
    for (std::size_t i = work.next++; i < blobs.size() && !work.stop; i = work.next++) {
      try {
        results[i] = repository.push_blob(blobs[i], [&](std::uint64_t bytes) {
          if (work.stop) {
            throw Error(ErrorKind::interrupted, "another blob failed");
          }
          if (progress) {
            const std::scoped_lock lock{work.mutex};
            progress(i, bytes);
          }
        });
        if (ended) {
          const std::scoped_lock lock{work.mutex};
          ended(i, *results[i]);
        }
      } catch (...) {
        work.fail(std::current_exception());
      }
    }
  };
  {
    std::vector<Background<void>> workers;
    const std::size_t count = std::min(connections, blobs.size());
    try {
      for (std::size_t i = 1; i < count; ++i) {
        workers.push_back(in_background(run));
      }
    } catch (const Error&) {
      // No more threads can be started; the existing ones do all the work.
    }
    run();
  }
  if (work.failure) {
    std::rethrow_exception(work.failure);
  }
  std::vector<PushedBlob> pushed;
  for (auto& result : results) {
    pushed.push_back(std::move(result).value());
  }
  return pushed;
}

}  // namespace autopack::registry
