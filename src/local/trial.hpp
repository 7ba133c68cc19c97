#pragma once

#include "local/metrics.hpp"
#include "local/parameter_values.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::local {

/// One run of a study's program with values of its own.
struct Trial {
  std::string id{};
  TrialValues values{};
  /// As the API names it. `STOPPING` is one that was ended: early when it has an end, else because
  /// the study was cancelled.
  std::string state{"ACTIVE"};
  std::vector<Measurement> measured{};  ///< on its way, where that may stop it
  std::optional<Measurement> last{};    ///< what counts
  std::optional<std::string> reason{};  ///< why it is infeasible
  std::string started{};
  std::optional<std::string> ended{};  ///< none: it has not ended by itself or by a rule

  bool has_ended() const { return ended.has_value(); }
};

/// The trial as the API has it.
nlohmann::json resource_of(const Trial& trial);

/// A trial out of such a resource; none when it is none.
std::optional<Trial> read_trial(const nlohmann::json& resource);

}  // namespace autopack::local
