#include "base/parallel.hpp"

#include "base/background.hpp"
#include "base/error.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <vector>

namespace autopack {

namespace {

/// Not an Error, so that no task handles it.
struct OtherFailed : std::exception {};

}  // namespace

void Stop::throw_if_requested() const {
  if (requested_) {
    throw OtherFailed{};
  }
}

void in_parallel(std::size_t count,
                 std::size_t threads,
                 const std::function<void(std::size_t, const Stop&)>& task) {
  Stop stop;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        task(i, stop);
      } catch (...) {
        const std::scoped_lock lock{mutex};
        failure = failure ? failure : std::current_exception();
        next = count;
        stop.request();
      }
    }
  };
  {
    std::vector<Background<void>> others;
    try {
      for (std::size_t i = 1; i < std::min(count, threads); ++i) {
        others.push_back(in_background(run));
      }
    } catch (const Error&) {
      // No more threads can be started; the existing ones do all the work.
    }
    run();
  }
  if (failure) {
    std::rethrow_exception(failure);
  }
}

void in_parallel(std::size_t count,
                 std::size_t threads,
                 const std::function<void(std::size_t)>& task) {
  in_parallel(count, threads, [&](std::size_t i, const Stop&) { task(i); });
}

}  // namespace autopack
