#pragma once

#include <csignal>

namespace autopack {

/// Blocks all signals in this thread during its lifetime. Threads that are started meanwhile get
/// none: signals are for the thread that waits for them.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
  sigset_t before_{};
};

}  // namespace autopack
