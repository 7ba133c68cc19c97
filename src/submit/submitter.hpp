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

/// What a submitter would send, for `--dry-run`.
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

/// Takes a job that passed every rule. One backend per file.
class Submitter {
public:
  virtual ~Submitter() = default;
  /// Offline part of its rules: what it cannot do with this job. All findings.
  virtual Problems check(const job::Job& job) const = 0;
  /// That it has what it will need to send a job, before anything is built for one. Reads files at
  /// most. Throws as find_credentials does.
  virtual void make_ready() = 0;
  /// `job` names every image that it runs.
  virtual PreparedRequest prepare(const job::Job& job) const = 0;
  virtual SubmittedJob submit(const job::Job& job) = 0;
};

struct VertexOptions {
  job::Location location{};
  /// CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM, used as it is.
  std::optional<std::string> endpoint_override{};
  google::Service* service{nullptr};
  /// See Creation.
  std::function<http::Client&()> uninterrupted{};
  Reporter* reporter{nullptr};
  /// Told the job as soon as it is known to exist, also when submit() then ends in an error.
  std::function<void(const SubmittedJob& job)> created{};
  /// Where it is written down what is about to be created; none: nowhere.
  std::optional<std::filesystem::path> records{};
};

/// Creates jobs by Vertex AI's REST API, each exactly once (see create_once).
std::unique_ptr<Submitter> make_vertex_submitter(VertexOptions options);

}  // namespace autopack::submit
