#pragma once

#include "base/error.hpp"

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace autopack {

/// One thing that happened to a step of a longer work (a build step, a layer on its way).
struct StepEvent {
  enum class State { started, progress, log, cached, completed, failed };

  std::string id{};    ///< stable over the step's life
  std::string name{};  ///< `[dependencies 2/3] RUN ...`, `layer sha256:...`
  State state{State::started};
  std::uint64_t current{0};  ///< bytes, for progress
  std::uint64_t total{0};    ///< bytes; 0 when unknown
  std::string text{};        ///< log: raw bytes of the step's output; failed: the reason
};

/// Where the core tells what happens. Only cli/ draws it; tests record it. Calls may come from
/// several threads at once.
class Reporter {
public:
  virtual ~Reporter() = default;
  /// One finished step for people: a past-tense verb and its object (`Built`, `sha256:... in 3 s`).
  virtual void done(std::string_view verb, std::string_view object) = 0;
  virtual void warn(const Problem& problem) = 0;
  virtual void step(const StepEvent& event) = 0;
  /// Shown with `-v`: a request, a decision.
  virtual void detail(std::string_view text) = 0;
  /// Shown with `-vv`: what an engine or a service said.
  virtual void trace(std::string_view text) = 0;
};

/// Set from a signal handler; long work looks at it and ends with Error(interrupted).
struct Cancellation {
  std::atomic<bool> requested{false};

  void throw_if_requested() const {
    if (requested.load(std::memory_order_relaxed)) {
      throw Error(ErrorKind::interrupted, "interrupted");
    }
  }
};

}  // namespace autopack
