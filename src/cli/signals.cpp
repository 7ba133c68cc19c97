#include "cli/signals.hpp"

#include <csignal>

namespace autopack::cli {

namespace {

/// A signal handler gets no argument of ours, so this variable is global.
std::atomic<Cancellation*> watched{nullptr};
std::atomic<int> received{SIGINT};

extern "C" void ask_to_stop(int signal) {
  received = signal;
  auto* cancellation = watched.load();
  if (cancellation != nullptr &&
      (!cancellation->requested.exchange(true) ||
       (cancellation->accepts_repeat && !cancellation->repeated.exchange(true)))) {
    return;
  }
  std::signal(signal, SIG_DFL);
  static_cast<void>(std::raise(signal));
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};

  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

int interruption_status() {
  return 128 + received;
}

// A user of nohup(1) wants it to continue.
SignalGuard::SignalGuard(Cancellation& cancellation)
    : hang_up_is_ours_{std::signal(SIGHUP, SIG_IGN) != SIG_IGN} {
  watched = &cancellation;
  received = SIGINT;
  handle(SIGINT, ask_to_stop);
  handle(SIGTERM, ask_to_stop);
  if (hang_up_is_ours_) {
    handle(SIGHUP, ask_to_stop);
  }
  // write() reports a closed pipe, which is enough.
  handle(SIGPIPE, SIG_IGN);
}

SignalGuard::~SignalGuard() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  if (hang_up_is_ours_) {
    handle(SIGHUP, SIG_DFL);
  }
  watched = nullptr;
}

}  // namespace autopack::cli
