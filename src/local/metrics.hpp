#pragma once

#include "job/study.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::local {

/// The metrics that a program reported at one step.
struct Measurement {
  std::int64_t step{0};
  double elapsed{0};                        ///< seconds since the trial's start; 0 if unknown
  std::map<std::string, double> metrics{};  ///< by id
};

/// Returns the reports of the metrics `ids` in a file of cloudml-hypertune, in order. A line is a
/// JSON object with numbers as text. Skips invalid lines. `began`: the start of the trial, in
/// seconds since 1970.
std::vector<Measurement> read_metrics(std::string_view text,
                                      const std::vector<std::string>& ids,
                                      double began = 0);

/// Appends the measurements in `read` that are newer than `known`. Past a limit, drops every second
/// one.
void add_later(std::vector<Measurement>& known, const std::vector<Measurement>& read);

/// The goals of a study for its metrics.
struct Goals {
  std::vector<std::string> ids{};           ///< the first guides the search
  std::map<std::string, bool> maximizes{};  ///< by id
  bool takes_best{false};                   ///< use the best measurement of a trial; else the last

  /// Returns the first metric, negated if more is better; nothing if it was not measured.
  std::optional<double> loss_of(const Measurement& measurement) const;
};

Goals goals_of(const job::Study& study);

/// Returns the last or best value of each metric, as `goals` requires. Returns nothing if a metric
/// was never reported.
std::optional<Measurement> final_measurement(const std::vector<Measurement>& all,
                                             const Goals& goals);

}  // namespace autopack::local
