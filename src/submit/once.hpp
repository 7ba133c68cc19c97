#pragma once

#include "base/report.hpp"
#include "google/jobs.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace autopack::submit {

/// The label that tells one submission from every other.
inline constexpr auto submission_label = "autopack-submission";

/// A job that is to be created exactly once.
struct Creation {
  const google::Jobs* jobs{nullptr};
  google::JobQuery where{};
  std::shared_ptr<const nlohmann::json> body{};  ///< with the label
  /// A client that the user's interruption does not stop, for the question whether a job was made.
  std::function<http::Client&()> uninterrupted{};
  Reporter* reporter{nullptr};
  /// Told the job as soon as it is known to exist, also when submit() then ends in an error.
  std::function<void(const google::Job& job)> created{};
  /// A run that ended before it knew what became of it had this label: it may have made the job.
  bool was_tried{false};
  std::optional<std::filesystem::path> record{};  ///< of the submission, for messages
  /// Called when it is known what became of the submission; may be empty.
  std::function<void()> settled{};
};

/// Random text that serves as the value of the label.
std::string new_submission_id();

/// Creates the job. The API's create has no request id, so after an answer that was lost or is
/// unclear the jobs with the label are listed: one that is there is the result, and only when none
/// is there the create is sent again, with the same label. Error(remote) for refusals and when it
/// stays unclear; Error(interrupted) says whether the job exists.
google::Job create_once(const Creation& creation);

}  // namespace autopack::submit
