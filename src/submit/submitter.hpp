#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "google/service.hpp"
#include "job/job.hpp"
#include "job/location.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace autopack::submit {

/// The request of a submitter, for `--dry-run`.
struct PreparedRequest {
  std::string method{};
  std::string url{};
  std::shared_ptr<const nlohmann::json> body{};
  /// What `--dry-run` prints for people: YAML, or a script. Absent: the request as JSON.
  std::optional<std::string> text{};
};

/// One of the jobs that are the same except for their place, which are tried one after the other.
struct Attempt {
  /// The id that all of them have; absent for the first one, which determines it.
  std::optional<std::string> group{};
  std::size_t number{1};
  std::string place{};  ///< distinguishes it from the others of the group
  std::map<std::string, std::string> labels{};
};

/// The label that distinguishes a submission from all others.
inline constexpr auto submission_label = "autopack-submission";

/// Labels of an attempt.
inline constexpr auto group_label = "autopack-group";
inline constexpr auto attempt_label = "autopack-attempt";

struct SubmittedJob {
  std::optional<std::string> name{};   ///< resource name, or `local/ID`
  std::optional<std::string> group{};  ///< of an attempt
  std::shared_ptr<const nlohmann::json> answer{};
  int status{0};  ///< exit status of a local job; 0 for a job that was only submitted
};

/// Submits a job that passed every rule. There is one backend per file.
class Submitter {
public:
  virtual ~Submitter() = default;
  /// Returns everything in the job that this submitter does not support. Runs offline.
  virtual Problems check(const job::Job& job) const = 0;
  /// Checks before the build that everything for sending a job is available. Only reads files.
  /// Throws as find_credentials does.
  virtual void make_ready() = 0;

  /// Asks the cluster, before anything is built, what would fail; creates nothing. `job` may name
  /// an image that does not exist yet. Returns errors, warnings, and Severity::unknown for what
  /// could not be checked.
  virtual Problems ask(const job::Job& /*job*/) { return {}; }

  /// `job` must name every image that it runs.
  virtual PreparedRequest prepare(const job::Job& job) const = 0;
  /// Throws RegionRefused if the service would have accepted the job elsewhere.
  virtual SubmittedJob submit(const job::Job& job) = 0;

  /// Returns the attempt of a group, but not its first, that an earlier run was creating for this
  /// job when it was killed.
  virtual std::optional<Attempt> left_attempt(const job::Job& /*job*/) const { return {}; }
};

struct VertexOptions {
  job::Location location{};
  /// CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM, used unchanged.
  std::optional<std::string> endpoint_override{};
  google::Service* service{nullptr};
  /// See Creation.
  std::function<http::Client&()> uninterrupted{};
  Reporter* reporter{nullptr};
  /// Gets the job as soon as it is known to exist, even if submit() then fails.
  std::function<void(const SubmittedJob& job)> created{};
  std::optional<Attempt> attempt{};
  /// Submissions are recorded here before they are sent; absent: no record.
  std::optional<std::filesystem::path> records{};
};

/// Creates jobs with Vertex AI's REST API, each exactly once (see create_once).
std::unique_ptr<Submitter> make_vertex_submitter(VertexOptions options);

}  // namespace autopack::submit
