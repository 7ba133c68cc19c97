#pragma once

#include "cli/following.hpp"
#include "cli/submission_result.hpp"
#include "job/location.hpp"
#include "submit/attempts.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// Returns the options of a submitter to Vertex AI that reports each new job to `result`.
submit::VertexOptions vertex_options(Session& session,
                                     const job::Location& location,
                                     GoogleServices& google,
                                     SubmissionResult& result);

/// The places to try, and the attempts before them.
struct AttemptsPlan {
  job::Location location{};  ///< the project; each place has a region of its own
  std::vector<submit::Place> places{};
  std::map<std::string, std::string> labels{};
  std::optional<std::string> group{};
  std::size_t earlier{0};
  /// Called before the job is created in a place; may be empty.
  std::function<void(const submit::Place& place)> prepare{};
  std::optional<std::string>
      output_image{};  ///< with the word `REGION`, if each region has its own
};

/// Creates the job in one place after the other as submit::run_attempts does, follows it if
/// `follow` asks for that, and prints the result. Throws unless the last job succeeded.
void try_places(Session& session,
                GoogleServices& google,
                SubmissionResult& result,
                const FollowFlags& follow,
                AttemptsPlan plan);

/// Returns the place in JSON: region, machine and accelerator.
nlohmann::json place_object(const submit::Place& place);

}  // namespace autopack::cli
