#include "cli/signals.hpp"

#include <csignal>

namespace autopack::cli {

namespace {

/// A signal handler takes no argument of ours, so this one variable is global.
std::atomic<Cancellation*> watched{nullptr};

extern "C" void ask_to_stop(int signal) {
  auto* cancellation = watched.load();
  if (cancellation != nullptr && !cancellation->requested.exchange(true)) {
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

SignalGuard::SignalGuard(Cancellation& cancellation) {
  watched = &cancellation;
  handle(SIGINT, ask_to_stop);
  handle(SIGTERM, ask_to_stop);
  // A reader that went away is told by write(), which is enough.
  handle(SIGPIPE, SIG_IGN);
}

SignalGuard::~SignalGuard() {
  handle(SIGINT, SIG_DFL);
  handle(SIGTERM, SIG_DFL);
  watched = nullptr;
}

}  // namespace autopack::cli
