#pragma once

#include <csignal>

namespace autopack {

/// While it lives, a write to a pipe or socket that nobody reads any more fails with EPIPE in this
/// thread and raises no signal. The process's handler and the other threads are left alone.
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
