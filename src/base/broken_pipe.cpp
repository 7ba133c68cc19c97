#include "base/broken_pipe.hpp"

#include <ctime>

namespace autopack {

namespace {

sigset_t only_broken_pipe() {
  sigset_t signals{};
  sigemptyset(&signals);
  sigaddset(&signals, SIGPIPE);
  return signals;
}

}  // namespace

BrokenPipeGuard::BrokenPipeGuard() {
  sigset_t pending{};
  sigpending(&pending);
  was_pending_ = sigismember(&pending, SIGPIPE) == 1;
  const sigset_t blocked = only_broken_pipe();
  pthread_sigmask(SIG_BLOCK, &blocked, &old_);
}

BrokenPipeGuard::~BrokenPipeGuard() {
  const sigset_t wanted = only_broken_pipe();
  const timespec no_time{};
  if (!was_pending_) {
    while (sigtimedwait(&wanted, nullptr, &no_time) == SIGPIPE) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &old_, nullptr);
}

}  // namespace autopack
