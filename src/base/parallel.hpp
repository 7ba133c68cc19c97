#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace autopack {

/// Lets a task of in_parallel() end early if another one failed.
class Stop {
public:
  /// Ends the task with an exception that in_parallel() catches, once another task has failed.
  void throw_if_requested() const;

  void request() { requested_ = true; }

private:
  std::atomic<bool> requested_{false};
};

/// Runs `task(i, stop)` for each i below `count`, at most `threads` at a time, one in the calling
/// thread. Throws what the first failed task threw; starts no task after it. Uses fewer threads if
/// no more can be started.
void in_parallel(std::size_t count,
                 std::size_t threads,
                 const std::function<void(std::size_t, const Stop&)>& task);

/// The same for tasks that run to their end.
void in_parallel(std::size_t count,
                 std::size_t threads,
                 const std::function<void(std::size_t)>& task);

}  // namespace autopack
