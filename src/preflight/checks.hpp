#pragma once

#include "base/report.hpp"
#include "preflight/google_apis.hpp"
#include "preflight/planned_job.hpp"
#include "preflight/problems.hpp"
#include "preflight/rules.hpp"
#include "registry/client.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// Checks of a planned job against Google's services and registries. Each returns its findings; it
/// throws Error if the check could not run.
namespace autopack::preflight {

/// A check that sends requests. It throws Error if it could not run.
struct Check {
  std::string name{};  ///< the name in its findings
  std::string what{};  ///< what stays unknown if it fails
  std::function<Problems()> run{};
};

/// The limit for all checks together.
constexpr std::chrono::milliseconds time_for_checks{2'000};

/// Runs all checks concurrently. After `limit`, or if `user` is requested, it requests `stop`,
/// which the clients of the checks must obey. Reports checks without a result as unknown. Throws
/// Interrupted if the user stopped it.
Problems run_checks(const std::vector<Check>& checks,
                    Cancellation& stop,
                    const Cancellation& user,
                    std::chrono::milliseconds limit = time_for_checks);

/// The job's project in Cloud Resource Manager, fetched once. Thread-safe.
class ProjectFacts {
public:
  /// Without a project, nothing is fetched.
  ProjectFacts(GoogleApis& apis, std::optional<std::string> project)
      : apis_{&apis}, project_{std::move(project)} {}

  /// Returns the response of `projects.get`, whatever its status.
  const ApiAnswer& answer();
  /// Both throw Error(remote) if the project cannot be read.
  std::string number();
  std::string id();

private:
  GoogleApis* apis_;
  std::optional<std::string> project_;
  std::mutex mutex_;
  std::optional<ApiAnswer> answer_{};
};

/// The services that checks use.
struct Sources {
  GoogleApis* apis{nullptr};
  ProjectFacts* project{nullptr};
  std::function<std::unique_ptr<registry::Repository>(const image::Reference&, registry::Access)>
      repository{};
};

/// Check that the project exists, and that its APIs are enabled.
Problems check_project(const PlannedJob& job, const Sources& sources);
Problems check_services(const PlannedJob& job, const Sources& sources);
/// Checks the permission to create the job.
Problems check_permissions(const PlannedJob& job, const Sources& sources);
/// Check that the service account exists, and that the user may act as it.
Problems check_service_account(const PlannedJob& job, const Sources& sources);
/// Checks that the service account may write logs.
Problems check_log_writer(const PlannedJob& job, const Sources& sources);
Problems check_quota(const QuotaNeed& need, const PlannedJob& job, const Sources& sources);
/// Checks the repository of the packaged image.
Problems check_repository(const PlannedJob& job, const Sources& sources);
/// Checks that the registry accepts a push with the current login. Leaves nothing behind.
Problems check_push(const PlannedJob& job, const Sources& sources);
/// Checks that the service agent may pull `image`, which is in another project.
Problems check_image_reader(const image::Reference& image,
                            const PlannedJob& job,
                            const Sources& sources);
/// Checks that `image` exists and fits the pools that run it.
Problems check_remote_image(const image::Reference& image,
                            const std::vector<const job::Pool*>& pools,
                            const Sources& sources);
Problems check_bucket(const std::string& bucket, const PlannedJob& job, const Sources& sources);
Problems check_tensorboard(const PlannedJob& job, const Sources& sources);
Problems check_network(const PlannedJob& job, const Sources& sources);
Problems check_persistent_resource(const PlannedJob& job, const Sources& sources);

/// Returns the checks that apply to `job`, to run concurrently. `job` and `sources` must outlive
/// them.
std::vector<Check> online_checks(const PlannedJob& job, const Sources& sources);

/// The findings about the quotas of several jobs.
struct QuotaFindings {
  std::mutex mutex{};
  std::vector<Problems> of_jobs{};  ///< in the order of the jobs
};

/// Returns a check of each quota that one of `jobs` needs, to run concurrently; they write to
/// `found`. The arguments must outlive them.
std::vector<Check> quota_checks(const std::vector<PlannedJob>& jobs,
                                const Sources& sources,
                                QuotaFindings& found);

/// Returns `name` as the path of a URL, each part percent-encoded.
std::string url_path(const std::string& name);
/// Returns `serviceAccount:` and the agent that runs custom code for the project with that number.
std::string agent_member(const std::string& project_number);

}  // namespace autopack::preflight
