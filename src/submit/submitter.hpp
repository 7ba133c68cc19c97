#pragma once

#include "base/environment.hpp"
#include "base/report.hpp"
#include "google/service.hpp"
#include "job/job.hpp"
#include "job/location.hpp"

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::submit {

/// The request of a submitter, for `--dry-run`.
struct PreparedRequest {
  std::string method{};
  std::string url{};
  std::shared_ptr<const nlohmann::json> body{};
};

struct SubmittedJob {
  std::optional<std::string> name{};  ///< resource name, or `local/ID`
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
  /// `job` must name every image that it runs.
  virtual PreparedRequest prepare(const job::Job& job) const = 0;
  virtual SubmittedJob submit(const job::Job& job) = 0;
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
  /// Submissions are recorded here before they are sent; absent: no record.
  std::optional<std::filesystem::path> records{};
};

/// Creates jobs with Vertex AI's REST API, each exactly once (see create_once).
std::unique_ptr<Submitter> make_vertex_submitter(VertexOptions options);

}  // namespace autopack::submit
