#pragma once

#include "job/study.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::local {

/// What a program reported at one step.
struct Measurement {
  std::int64_t step{0};
  double elapsed{0};                        ///< seconds since the trial's start; 0 when not known
  std::map<std::string, double> metrics{};  ///< by their ids
};

/// The reports in a file of cloudml-hypertune about the metrics `ids`, in its order: a line is a
/// JSON object with numbers as text. What is no report is passed over. `began`: when the trial was
/// started, in seconds since 1970.
std::vector<Measurement> read_metrics(std::string_view text,
                                      const std::vector<std::string>& ids,
                                      double began = 0);

/// Adds to what is known of a trial on its way those of `read` that came later. Of very many, only
/// each second stays.
void add_later(std::vector<Measurement>& known, const std::vector<Measurement>& read);

/// What a study wants of what it measures.
struct Goals {
  std::vector<std::string> ids{};           ///< the first guides the search
  std::map<std::string, bool> maximizes{};  ///< by their ids
  bool takes_best{false};                   ///< of a trial's measurements; else the last

  /// The first metric, negative where more is better; none when it was not measured.
  std::optional<double> loss_of(const Measurement& measurement) const;
};

Goals goals_of(const job::Study& study);

/// For each metric its last value, or the best, as `goals` wants it. None when one was never
/// reported.
std::optional<Measurement> final_measurement(const std::vector<Measurement>& all,
                                             const Goals& goals);

}  // namespace autopack::local
