#pragma once

#include "base/report.hpp"

namespace autopack::cli {

/// While it lives, SIGINT and SIGTERM ask `cancellation` to stop the work; a second one ends the
/// process at once.
class SignalGuard {
public:
  explicit SignalGuard(Cancellation& cancellation);
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  SignalGuard(SignalGuard&&) = delete;
  SignalGuard& operator=(SignalGuard&&) = delete;
};

}  // namespace autopack::cli
