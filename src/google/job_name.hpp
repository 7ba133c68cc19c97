#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::google {

/// The collections of Vertex AI that contain training jobs.
enum class JobKind { custom, tuning, pipeline };

inline constexpr std::array job_kinds{JobKind::custom, JobKind::tuning, JobKind::pipeline};

/// Returns `customJobs`, as URLs and lists spell it.
std::string_view collection_of(JobKind kind);
/// Returns the kind with this collection, or nothing for other names.
std::optional<JobKind> kind_of(std::string_view collection);
/// Returns "custom job", for people.
std::string_view words_of(JobKind kind);

/// The resource name of a job, in parts.
struct JobName {
  std::string project{};  ///< id or number
  std::string region{};
  JobKind kind{JobKind::custom};
  std::string id{};

  /// Returns nothing if `text` is not `projects/P/locations/L/COLLECTION/ID`.
  static std::optional<JobName> parse(std::string_view text);

  /// Returns `projects/P/locations/L`.
  std::string parent() const;
  /// Returns the whole resource name.
  std::string text() const;
  /// Returns the job's page in Google's console (as google-cloud-aiplatform does).
  std::string console_address() const;
};

/// Returns true if `text` can be one part of a resource name: letters, digits, `-`, `_`, `.` and
/// `:`, but not only dots.
bool is_name_part(std::string_view text);

}  // namespace autopack::google
