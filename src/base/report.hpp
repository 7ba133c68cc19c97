#pragma once

#include "base/error.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace autopack {

/// The user stopped the run. It does not derive from Error, so code that handles errors does not
/// catch it.
class Interrupted : public std::exception {
public:
  Interrupted() = default;

  /// `report` has the kind `interrupted`.
  // The exception owns the report. NOLINTNEXTLINE(bugprone-throw-keyword-missing)
  explicit Interrupted(Error report) : report_{std::move(report)} {}

  /// Returns what the user sees.
  const Error& report() const { return report_; }

  const char* what() const noexcept override { return report_.what(); }

private:
  Error report_{ErrorKind::interrupted, "interrupted"};
};

/// An event of a step in longer work (a build step, the transfer of a layer).
struct StepEvent {
  enum class State { started, progress, log, cached, completed, failed };

  std::string id{};    ///< constant for the step
  std::string name{};  ///< `[dependencies 2/3] RUN ...`, `layer sha256:...`
  State state{State::started};
  std::uint64_t current{0};  ///< bytes, for progress
  std::uint64_t total{0};    ///< in bytes; 0 if unknown
  std::string text{};        ///< log: raw bytes of the step's output; failed: the reason
};

/// Receives what happens in the core. Only cli/ displays it; tests record it. Calls may come from
/// several threads at once.
class Reporter {
public:
  virtual ~Reporter() = default;
  /// Reports a finished step to people: a past-tense verb and its object (`Built`, `sha256:... in 3
  /// s`).
  virtual void done(std::string_view verb, std::string_view object) = 0;
  virtual void warn(const Problem& problem) = 0;
  virtual void step(const StepEvent& event) = 0;
  /// Shown with `-v`: a request, a decision.
  virtual void detail(std::string_view text) = 0;
  /// Shown with `-vv`: output of an engine or a service.
  virtual void trace(std::string_view text) = 0;
};

/// A step that is shown while it lasts, and leaves no line behind.
class LiveStep {
public:
  /// `name` also identifies the step.
  LiveStep(Reporter& reporter, std::string name) : reporter_{reporter}, name_{std::move(name)} {
    reporter_.step({.id = name_, .name = name_});
  }

  ~LiveStep() { reporter_.step({.id = name_, .name = name_, .state = StepEvent::State::cached}); }

  LiveStep(const LiveStep&) = delete;
  LiveStep& operator=(const LiveStep&) = delete;
  LiveStep(LiveStep&&) = delete;
  LiveStep& operator=(LiveStep&&) = delete;

private:
  Reporter& reporter_;
  std::string name_;
};

/// Set by a signal handler; long-running work checks it and throws Interrupted.
struct Cancellation {
  std::atomic<bool> requested{false};
  /// Set by work that takes a while to end and can hurry if asked again. Without it, a second
  /// signal ends the process.
  mutable std::atomic<bool> accepts_repeat{false};
  std::atomic<bool> repeated{false};

  void throw_if_requested() const {
    if (requested.load(std::memory_order_relaxed)) {
      throw Interrupted{};
    }
  }
};

}  // namespace autopack
