#pragma once

#include "local/metrics.hpp"
#include "local/parameter_values.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// A run of a study's program with its own values.
struct Trial {
  std::string id{};
  TrialValues values{};
  /// The API's name. `STOPPING` is a trial that was ended: by a rule if it has an end, else because
  /// the study was cancelled.
  std::string state{"ACTIVE"};
  std::vector<Measurement> measured{};  ///< intermediate ones, if they may stop it
  std::optional<Measurement> last{};    ///< the final one
  std::optional<std::string> reason{};  ///< why it is infeasible
  std::string started{};
  std::optional<std::string> ended{};  ///< absent: neither the program nor a rule has ended it

  bool has_ended() const { return ended.has_value(); }
};

/// Returns the trial in the API's form.
nlohmann::json resource_of(const Trial& trial);

/// Parses such a resource; returns nothing if it is not a trial.
std::optional<Trial> read_trial(const nlohmann::json& resource);

}  // namespace autopack::local
