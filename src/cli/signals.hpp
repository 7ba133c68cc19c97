#pragma once

#include "base/report.hpp"

namespace autopack::cli {

/// Returns the exit status of a run that a signal ended: 128 plus the signal's number, 130 for
/// SIGINT.
int interruption_status();

/// During its lifetime, SIGINT, SIGTERM and SIGHUP request `cancellation`; a second one repeats the
/// request if `cancellation` accepts that, and otherwise ends the process immediately. An ignored
/// SIGHUP stays ignored.
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
