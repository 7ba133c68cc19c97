#pragma once

#include "base/report.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <utility>

namespace autopack {

/// Starts a thread that runs `task`; throws Error(environment) if the system cannot start one.
template <class Thread = std::jthread, class Task>
Thread start_thread(Task&& task) {
  try {
    return Thread{std::forward<Task>(task)};
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::environment, "cannot start a thread")
        .cause(error.code().message())
        .hint("check the limit of processes and threads: ulimit -u");
  }
}

/// Waits; throws Interrupted as soon as `cancellation`, which may be null, is requested.
inline void sleep_unless_cancelled(std::chrono::milliseconds time,
                                   const Cancellation* cancellation) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + time;
  for (auto now = Clock::now(); now < end; now = Clock::now()) {
    if (cancellation != nullptr) {
      cancellation->throw_if_requested();
    }
    std::this_thread::sleep_for(
        std::min<Clock::duration>(std::chrono::milliseconds{50}, end - now));
  }
}

}  // namespace autopack
