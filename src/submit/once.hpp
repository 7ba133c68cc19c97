#pragma once

#include "base/report.hpp"
#include "google/jobs.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace autopack::submit {

/// The label that distinguishes a submission from all others.
inline constexpr auto submission_label = "autopack-submission";

/// A job to be created exactly once.
struct Creation {
  const google::Jobs* jobs{nullptr};
  google::JobQuery where{};
  std::shared_ptr<const nlohmann::json> body{};  ///< with the label
  /// Returns a client that the user's interruption does not stop, to find out whether a job was
  /// created.
  std::function<http::Client&()> uninterrupted{};
  Reporter* reporter{nullptr};
  /// Gets the job as soon as it is known to exist, even if submit() then fails.
  std::function<void(const google::Job& job)> created{};
  /// An earlier run used this label and ended without a result: it may have created the job.
  bool was_tried{false};
  std::optional<std::filesystem::path> record{};  ///< of the submission, for messages
  /// Called when the result of the submission is known; may be empty.
  std::function<void()> settled{};
};

/// Returns random text for the label's value.
std::string new_submission_id();

/// Creates the job. The API's create has no request id. So after a lost or unclear response this
/// lists the jobs with the label: an existing one is the result; only if there is none, it sends
/// the create again, with the same label. Throws Error(remote) if the service refuses or the result
/// stays unclear. Interrupted says whether the job exists.
google::Job create_once(const Creation& creation);

}  // namespace autopack::submit
