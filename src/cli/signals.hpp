#pragma once

#include "base/report.hpp"

namespace autopack::cli {

/// The exit status of a run that a signal ended: 128 and the signal's number, 130 for SIGINT.
int interruption_status();

/// While it lives, SIGINT, SIGTERM and SIGHUP ask `cancellation` to stop the work; a second one
/// ends the process at once. A SIGHUP that is ignored stays so.
class SignalGuard {
public:
  explicit SignalGuard(Cancellation& cancellation);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  SignalGuard(SignalGuard&&) = delete;
  SignalGuard& operator=(SignalGuard&&) = delete;

private:
  bool hang_up_is_ours_{false};
};

}  // namespace autopack::cli
