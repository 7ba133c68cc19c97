#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::google {

/// The collections of Vertex AI that hold jobs of training.
enum class JobKind { custom, tuning, pipeline };

inline constexpr std::array job_kinds{JobKind::custom, JobKind::tuning, JobKind::pipeline};

/// `customJobs`, as it stands in URLs and in the answers of a list.
std::string_view collection_of(JobKind kind);
/// The kind whose collection is called so; none for other names.
std::optional<JobKind> kind_of(std::string_view collection);
/// "custom job", for people.
std::string_view words_of(JobKind kind);

/// The resource name of a job, in parts.
struct JobName {
  std::string project{};  ///< id or number
  std::string region{};
  JobKind kind{JobKind::custom};
  std::string id{};

  /// None when `text` is not `projects/P/locations/L/COLLECTION/ID`.
  static std::optional<JobName> parse(std::string_view text);

  /// `projects/P/locations/L`.
  std::string parent() const;
  /// The whole resource name.
  std::string text() const;
  /// Where people see the job in Google's console (as google-cloud-aiplatform has it).
  std::string console_address() const;
};

/// True for what can stand as one part of a resource name: letters, digits, `-`, `_`, `.` and `:`,
/// not dots alone.
bool is_name_part(std::string_view text);

}  // namespace autopack::google
