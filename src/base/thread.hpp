#pragma once

#include "base/error.hpp"

#include <system_error>
#include <thread>
#include <utility>

namespace autopack {

/// A thread that runs `task`; Error(environment) when the system has none to give.
template <class Thread = std::jthread, class Task>
Thread start_thread(Task&& task) {
  try {
    return Thread{std::forward<Task>(task)};
  } catch (const std::system_error& error) {
    throw Error(ErrorKind::environment, "cannot start a thread")
        .cause(error.code().message())
        .hint("see how many processes and threads are allowed: ulimit -u");
  }
}

}  // namespace autopack
