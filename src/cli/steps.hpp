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

/// The steps that run now, what they wrote, and the lines that tell it. Draws nothing.
class Steps {
public:
  /// What to print for good because of an event.
  struct Told {
    std::optional<std::string> verb{};  ///< `Step` or `Failed`; none when there is a log only
    std::string object{};
    std::string log{};  ///< what the step wrote and is not told yet, made harmless
  };

  /// With `with_logs` every whole line a step writes is told at once; else only a failed step's
  /// log, in full. None when there is nothing to print.
  std::optional<Told> take(const StepEvent& event, Clock::time_point now, bool with_logs);
  /// One line per running step, at most `limit`, each cut to `columns`.
  std::vector<std::string> live_lines(Clock::time_point now, int columns, std::size_t limit) const;
  /// Running steps of which nothing was heard for `silence`, told once per `silence`.
  std::vector<std::string> silent_lines(Clock::time_point now, std::chrono::seconds silence);

  /// The work they belong to has ended, whether or not each of them said so.
  void forget() { running_.clear(); }

  bool empty() const { return running_.empty(); }

private:
  struct Running {
    std::string name{};
    Clock::time_point started{};
    Clock::time_point told{};
    std::uint64_t current{0};
    std::uint64_t total{0};
    std::string log{};
    std::size_t log_told{0};  ///< bytes of `log`
    std::size_t order{0};
  };

  static std::string untold_log(Running& step, bool to_the_end);
  std::vector<const Running*> in_order() const;

  std::map<std::string, Running> running_;
  std::size_t next_{0};
};

/// The lines of a program's output as they may be shown: no control characters, no credentials, of
/// a line drawn over several times only the last state.
std::string harmless_lines(std::string_view text);

}  // namespace autopack::cli
