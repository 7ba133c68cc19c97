#pragma once

#include <csignal>

namespace autopack {

/// During its lifetime, a write of this thread to a pipe or socket without a reader fails with
/// EPIPE and raises no signal. The process's signal handler and other threads are not affected.
class BrokenPipeGuard {
public:
  BrokenPipeGuard();
  ~BrokenPipeGuard();
  BrokenPipeGuard(const BrokenPipeGuard&) = delete;
  BrokenPipeGuard& operator=(const BrokenPipeGuard&) = delete;

private:
  sigset_t old_{};
  bool was_pending_{false};
};

}  // namespace autopack
