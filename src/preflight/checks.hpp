#pragma once

#include "preflight/google_apis.hpp"
#include "preflight/planned_job.hpp"
#include "preflight/rules.hpp"
#include "preflight/run.hpp"
#include "registry/client.hpp"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// What Google's services and registries tell of a planned job. Each returns what it found; an
/// Error that leaves it means that it could not be made.
namespace autopack::preflight {

/// The job's project as Cloud Resource Manager knows it, asked for once. Safe to use from several
/// threads.
class ProjectFacts {
public:
  /// Without a project there is nothing to ask.
  ProjectFacts(GoogleApis& apis, std::optional<std::string> project)
      : apis_{&apis}, project_{std::move(project)} {}

  /// The answer of `projects.get`, whatever its status.
  const ApiAnswer& answer();
  /// Both throw Error(remote) when the project cannot be read.
  std::string number();
  std::string id();

private:
  GoogleApis* apis_;
  std::optional<std::string> project_;
  std::mutex mutex_;
  std::optional<ApiAnswer> answer_{};
};

/// What checks ask.
struct Sources {
  GoogleApis* apis{nullptr};
  ProjectFacts* project{nullptr};
  std::function<std::unique_ptr<registry::Repository>(const image::Reference&, registry::Access)>
      repository{};
};

/// Rows 17 and 30: the project exists, and its APIs are on.
Problems check_project(const PlannedJob& job, const Sources& sources);
Problems check_services(const PlannedJob& job, const Sources& sources);
/// The right to create the job.
Problems check_permissions(const PlannedJob& job, const Sources& sources);
/// Row 8: the service account is there and may be used.
Problems check_service_account(const PlannedJob& job, const Sources& sources);
/// Row 23: it may write logs.
Problems check_log_writer(const PlannedJob& job, const Sources& sources);
/// Rows 9 and 12.
Problems check_quota(const QuotaNeed& need, const PlannedJob& job, const Sources& sources);
/// Rows 3, 5 and 29: the repository of the packaged image.
Problems check_repository(const PlannedJob& job, const Sources& sources);
/// Row 2: the registry takes a push with the login at hand. Leaves nothing behind.
Problems check_push(const PlannedJob& job, const Sources& sources);
/// Row 6: the service agent may pull `image`, which is in another project.
Problems check_image_reader(const image::Reference& image,
                            const PlannedJob& job,
                            const Sources& sources);
/// Rows 1, 7 and 27: `image` is there and fits the pools that run it.
Problems check_remote_image(const image::Reference& image,
                            const std::vector<const job::Pool*>& pools,
                            const Sources& sources);
/// Row 24.
Problems check_bucket(const std::string& bucket, const PlannedJob& job, const Sources& sources);
Problems check_tensorboard(const PlannedJob& job, const Sources& sources);
Problems check_network(const PlannedJob& job, const Sources& sources);
Problems check_persistent_resource(const PlannedJob& job, const Sources& sources);

/// Those that matter for `job`, to be run at once. `job` and `sources` must outlive them.
std::vector<Check> online_checks(const PlannedJob& job, const Sources& sources);

/// `name` as the path of a URL, each part percent-encoded.
std::string url_path(const std::string& name);
/// `serviceAccount:` and the agent that runs custom code for the project of that number.
std::string agent_member(const std::string& project_number);

}  // namespace autopack::preflight
