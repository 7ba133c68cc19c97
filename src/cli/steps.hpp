#pragma once

#include "base/elapsed.hpp"
#include "base/report.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

using Clock = std::chrono::steady_clock;

/// The running steps, their output, and the lines that describe them. Draws nothing.
class Steps {
public:
  /// Permanent output because of an event.
  struct Reported {
    std::optional<std::string> verb{};  ///< `Step` or `Failed`; absent for a log only
    std::string object{};
    std::string log{};  ///< the step's new output, sanitized
  };

  /// With `with_logs`, returns every whole line of a step immediately; else only a failed step's
  /// log, in full. Returns nothing if there is nothing to print.
  std::optional<Reported> take(const StepEvent& event, Clock::time_point now, bool with_logs);
  /// Returns one line per running step, at most `limit`, each cut to `columns`.
  std::vector<std::string> live_lines(Clock::time_point now, int columns, std::size_t limit) const;
  /// Returns running steps without an event for `silence`, once per `silence`.
  std::vector<std::string> silent_lines(Clock::time_point now, std::chrono::seconds silence);

  /// Forgets all steps, because their work has ended, even without an event for each.
  void forget() { running_.clear(); }

  bool empty() const { return running_.empty(); }

private:
  struct Running {
    std::string name{};
    Clock::time_point started{};
    Clock::time_point reported{};
    std::uint64_t current{0};
    std::uint64_t total{0};
    std::string log{};
    std::size_t log_reported{0};  ///< bytes of `log` already printed
    std::size_t order{0};
  };

  static std::string unreported_log(Running& step, bool to_the_end);
  std::vector<const Running*> in_order() const;

  std::map<std::string, Running> running_;
  std::size_t next_{0};
};

/// Returns the lines of a program's output as they may be printed: no control characters, no
/// credentials, and only the last state of a redrawn line.
std::string harmless_lines(std::string_view text);

}  // namespace autopack::cli
