#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "preflight/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::preflight {

using nlohmann::json;

namespace {

constexpr auto act_as = "iam.serviceAccounts.actAs";

constexpr std::array log_roles{std::string_view{"roles/logging.logWriter"},
                               std::string_view{"roles/logging.admin"},
                               std::string_view{"roles/editor"},
                               std::string_view{"roles/owner"},
                               std::string_view{"roles/aiplatform.customCodeServiceAgent"},
                               std::string_view{"roles/aiplatform.serviceAgent"}};

std::string account_path(const std::string& account) {
  return "/v1/projects/-/serviceAccounts/" + percent_encode(account);
}

Problems check_account(const PlannedJob& job, const Sources& sources) {
  const auto& account = job.service_account.value();
  const auto answer = sources.apis->get(Service::iam, account_path(account));
  if (answer.status == 404) {
    return {failing("service-account",
                    fmt::format("there is not a service account `{}`", printable(account)),
                    "the service would refuse the job",
                    {fmt::format("gcloud iam service-accounts list --project={}", job.project())})};
  }
  if (!answer.ok()) {
    return {refusal_finding("service-account",
                            fmt::format("service account `{}`", printable(account)), Service::iam,
                            answer, job.project())};
  }
  if (answer.body->value("disabled", json{}) == true) {
    return {failing("service-account",
                    fmt::format("service account `{}` is disabled", printable(account)),
                    "the job could not run as it",
                    {fmt::format("gcloud iam service-accounts enable {}", shell_quote(account))})};
  }
  const auto home = answer.body->value("projectId", json{});
  const auto project = home.is_string() ? home.get<std::string>() : "";
  if (!project.empty() && project != job.project() && project != sources.project->id()) {
    return {
        warning("service-account",
                fmt::format("service account `{}` is of project `{}`, the job of `{}`",
                            printable(account), printable(project), job.project()),
                "organisations forbid that by default, and the service agent must be let in",
                {fmt::format("gcloud iam service-accounts list --project={}", job.project()),
                 fmt::format("gcloud iam service-accounts add-iam-policy-binding {} --member={} "
                             "--role=roles/iam.serviceAccountTokenCreator",
                             shell_quote(account), agent_member(sources.project->number()))})};
  }
  return {ok("service-account", fmt::format("service account `{}` exists", printable(account)))};
}

Problems check_act_as(const PlannedJob& job, const Sources& sources) {
  const auto& account = job.service_account.value();
  const auto answer =
      sources.apis->post(Service::iam, account_path(account) + ":testIamPermissions",
                         {{"permissions", json::array({act_as})}});
  if (answer.status == 404) {
    return {};  // check_account reports it
  }
  if (!answer.ok()) {
    return {refusal_finding("act-as", fmt::format("whether you may use `{}`", printable(account)),
                            Service::iam, answer, job.project())};
  }
  const auto granted = answer.body->value("permissions", json::array());
  if (!contains(granted, act_as)) {
    return {failing("act-as",
                    fmt::format("you may not use service account `{}`", printable(account)),
                    fmt::format("the permission `{}` is missing", act_as),
                    {fmt::format("gcloud iam service-accounts add-iam-policy-binding {} "
                                 "--member=user:YOU --role=roles/iam.serviceAccountUser",
                                 shell_quote(account))})};
  }
  return {ok("act-as", fmt::format("you may use service account `{}`", printable(account)))};
}

}  // namespace

Problems check_service_account(const PlannedJob& job, const Sources& sources) {
  auto findings = check_account(job, sources);
  auto more = check_act_as(job, sources);
  std::ranges::move(more, std::back_inserter(findings));
  return findings;
}

Problems check_log_writer(const PlannedJob& job, const Sources& sources) {
  const auto& project = job.project();
  const auto& account = job.service_account.value();
  const auto what = fmt::format("whether `{}` may write logs", printable(account));
  const auto answer = sources.apis->post(
      Service::cloudresourcemanager,
      fmt::format("/v1/projects/{}:getIamPolicy", percent_encode(project)), json::object());
  if (!answer.ok()) {
    return {refusal_finding("logs", what, Service::cloudresourcemanager, answer, project)};
  }
  switch (grant_of(*answer.body, "serviceAccount:" + account, log_roles)) {
    case Grant::yes: return {ok("logs", fmt::format("`{}` may write logs", printable(account)))};
    case Grant::perhaps: return {unknown("logs", what, "it depends on a custom role or a group")};
    case Grant::no: break;
  }
  return {warning("logs", fmt::format("`{}` may not write logs", printable(account)),
                  "the job would run, but its logs would be lost",
                  {fmt::format("gcloud projects add-iam-policy-binding {} --member={} "
                               "--role=roles/logging.logWriter",
                               project, shell_quote("serviceAccount:" + account))})};
}

}  // namespace autopack::preflight
