#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "preflight/checks.hpp"
#include "registry/artifact_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace autopack::preflight {

using nlohmann::json;

namespace {

bool uses_artifact_registry(const PlannedJob& job) {
  const auto is_there = [](const image::Reference& image) {
    return registry::parse_artifact_name(image.host, image.path).has_value();
  };
  return job.packaged && is_there(job.packaged->target);
}

bool uses_cloud_build(const PlannedJob& job) {
  return job.packaged && job.packaged->uses_cloud_build;
}

}  // namespace

std::string url_path(const std::string& name) {
  std::string path;
  for (const auto& part : split(name, '/')) {
    path += (path.empty() ? "" : "/") + percent_encode(part);
  }
  return path;
}

std::string agent_member(const std::string& project_number) {
  return fmt::format("serviceAccount:service-{}@gcp-sa-aiplatform-cc.iam.gserviceaccount.com",
                     project_number);
}

const ApiAnswer& ProjectFacts::answer() {
  const std::lock_guard lock{mutex_};
  if (!answer_) {
    answer_ = apis_->get(Service::cloudresourcemanager,
                         "/v1/projects/" + percent_encode(project_.value()));
  }
  return *answer_;
}

std::string ProjectFacts::number() {
  auto number = text_at(*answer().body, "projectNumber");
  if (!answer().ok() || number.empty()) {
    throw Error(ErrorKind::remote,
                fmt::format("the number of project `{}` is not known", *project_));
  }
  return number;
}

std::string ProjectFacts::id() {
  auto id = text_at(*answer().body, "projectId");
  if (!answer().ok() || id.empty()) {
    throw Error(ErrorKind::remote, fmt::format("the id of project `{}` is not known", *project_));
  }
  return id;
}

Problems check_project(const PlannedJob& job, const Sources& sources) {
  const auto& project = job.project();
  const auto& answer = sources.project->answer();
  const std::vector<std::string> remedies{"gcloud projects list", "gcloud config set project ID"};
  if (answer.status == 404) {
    return {failing("project", fmt::format("there is no project `{}`", project),
                    "a project's id is meant, not its display name", remedies)};
  }
  if (!answer.ok()) {
    return {refusal_finding("project", fmt::format("project `{}`", project),
                            Service::cloudresourcemanager, answer, project)};
  }
  const auto state = text_at(*answer.body, "lifecycleState");
  if (!state.empty() && state != "ACTIVE") {
    return {failing("project", fmt::format("project `{}` is `{}`", project, printable(state)),
                    "it accepts no jobs", remedies)};
  }
  return {ok("project", fmt::format("project `{}` exists, number {}", project,
                                    printable(text_at(*answer.body, "projectNumber"))))};
}

Problems check_services(const PlannedJob& job, const Sources& sources) {
  const auto& project = job.project();
  std::vector<std::string> hosts{host_of(Service::aiplatform), "logging.googleapis.com"};
  if (uses_artifact_registry(job)) {
    hosts.push_back(host_of(Service::artifactregistry));
  }
  if (uses_cloud_build(job)) {
    hosts.emplace_back("cloudbuild.googleapis.com");
  }
  const auto parent = "projects/" + percent_encode(project);
  std::string path = fmt::format("/v1/{}/services:batchGet", parent);
  for (const auto& host : hosts) {
    path +=
        fmt::format("{}names={}/services/{}", path.ends_with("batchGet") ? "?" : "&", parent, host);
  }
  const auto answer = sources.apis->get(Service::serviceusage, path);
  if (!answer.ok()) {
    return {
        refusal_finding("api", "whether the APIs are on", Service::serviceusage, answer, project)};
  }
  Problems findings;
  for (const auto& host : hosts) {
    std::string state;
    for (const auto& service : answer.body->value("services", json::array())) {
      state = text_at(service, "name").ends_with("/" + host) ? text_at(service, "state") : state;
    }
    const std::vector<std::string> remedies{
        fmt::format("gcloud services enable {} --project={}", host, project)};
    if (state == "ENABLED") {
      findings.push_back(ok("api", fmt::format("the API `{}` is on", host)));
    } else if (state.empty()) {
      findings.push_back(unknown("api", fmt::format("whether the API `{}` is on", host),
                                 "the response of the Service Usage API does not say"));
    } else if (host.starts_with("logging")) {
      findings.push_back(warning("api", fmt::format("the API `{}` is off", host),
                                 "the job's logs could not be read", remedies));
    } else {
      findings.push_back(failing("api", fmt::format("the API `{}` is off", host),
                                 "it would refuse every request (SERVICE_DISABLED)", remedies));
    }
  }
  return findings;
}

Problems check_permissions(const PlannedJob& job, const Sources& sources) {
  struct Need {
    std::string permission{};
    std::string what{};
    std::string role{};
  };

  const auto& project = job.project();
  std::vector<Need> needs{{job.create_permission, "create jobs", "roles/aiplatform.user"}};
  if (uses_cloud_build(job)) {
    needs.push_back({"cloudbuild.builds.create", "start builds", "roles/cloudbuild.builds.editor"});
  }
  auto permissions = json::array();
  for (const auto& need : needs) {
    permissions.push_back(need.permission);
  }
  const auto answer =
      sources.apis->post(Service::cloudresourcemanager,
                         fmt::format("/v1/projects/{}:testIamPermissions", percent_encode(project)),
                         {{"permissions", std::move(permissions)}});
  if (!answer.ok()) {
    return {refusal_finding("permission",
                            fmt::format("whether you may create jobs in `{}`", project),
                            Service::cloudresourcemanager, answer, project)};
  }
  const auto granted = answer.body->value("permissions", json::array());
  Problems findings;
  for (const auto& [permission, what, role] : needs) {
    findings.push_back(
        contains(granted, permission)
            ? ok("permission", fmt::format("you may {} in project `{}`", what, project))
            : failing("permission", fmt::format("you may not {} in project `{}`", what, project),
                      fmt::format("the permission `{}` is missing", permission),
                      {fmt::format("gcloud projects add-iam-policy-binding {} --member=user:YOU "
                                   "--role={}",
                                   project, role)}));
  }
  return findings;
}

namespace {

ApiAnswer read_quota(const std::string& metric, const PlannedJob& job, const Sources& sources) {
  return sources.apis->get(
      Service::serviceusage,
      fmt::format("/v1beta1/projects/{}/services/aiplatform.googleapis.com/consumerQuotaMetrics/"
                  "aiplatform.googleapis.com%2F{}",
                  percent_encode(job.project()), metric));
}

Problem quota_finding(const QuotaNeed& need, const PlannedJob& job, const ApiAnswer& answer) {
  if (!answer.ok()) {
    return refusal_finding("quota", fmt::format("quota `{}` in `{}`", need.metric, job.region()),
                           Service::serviceusage, answer, job.project());
  }
  return judge_quota(need, *answer.body, job.location);
}

/// A quota, and the jobs that need it.
struct SharedNeed {
  std::vector<std::pair<std::size_t, QuotaNeed>> of_jobs{};
};

}  // namespace

Problems check_quota(const QuotaNeed& need, const PlannedJob& job, const Sources& sources) {
  return {quota_finding(need, job, read_quota(need.metric, job, sources))};
}

std::vector<Check> quota_checks(const std::vector<PlannedJob>& jobs,
                                const Sources& sources,
                                QuotaFindings& found) {
  found.of_jobs.resize(jobs.size());
  std::map<std::string, SharedNeed> metrics;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    for (auto& need : quota_needs(jobs[i])) {
      const auto metric = need.metric;
      metrics[metric].of_jobs.emplace_back(i, std::move(need));
    }
  }
  std::vector<Check> checks;
  for (const auto& [metric, shared] : metrics) {
    const auto run = [metric = metric, shared = shared, &jobs, &sources, &found]() -> Problems {
      const auto answer = read_quota(metric, jobs.front(), sources);
      const std::lock_guard lock{found.mutex};
      for (const auto& [index, need] : shared.of_jobs) {
        found.of_jobs[index].push_back(quota_finding(need, jobs[index], answer));
      }
      return {};
    };
    checks.push_back({.name = "quota", .what = fmt::format("quota `{}`", metric), .run = run});
  }
  return checks;
}

}  // namespace autopack::preflight
