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

constexpr std::array storage_roles{std::string_view{"roles/storage.objectUser"},
                                   std::string_view{"roles/storage.objectAdmin"},
                                   std::string_view{"roles/storage.admin"},
                                   std::string_view{"roles/aiplatform.customCodeServiceAgent"},
                                   std::string_view{"roles/aiplatform.serviceAgent"},
                                   std::string_view{"roles/editor"},
                                   std::string_view{"roles/owner"}};

/// A resource that the job names.
struct Named {
  std::string check{};
  std::string what{};  ///< "TensorBoard `projects/...`"
  Service service{Service::aiplatform};
  std::string path{};
  std::vector<std::string> remedies{};
};

/// Returns a finding if the resource is missing or unreadable; then `answer` is unusable.
std::optional<Problem> missing(const Named& named, const ApiAnswer& answer, const PlannedJob& job) {
  if (answer.status == 404) {
    return failing(named.check, "there is no " + named.what, "the service would refuse the job",
                   named.remedies);
  }
  if (!answer.ok()) {
    return refusal_finding(named.check, named.what, named.service, answer, job.project());
  }
  return std::nullopt;
}

Problems check_bucket_place(const std::string& bucket, const json& body, const PlannedJob& job) {
  const auto location = to_lower(text_at(body, "location"));
  const auto& region = job.region();
  if (text_at(body, "locationType") != "region" || location.empty() || location == region) {
    return {};
  }
  return {warning("bucket-location",
                  fmt::format("bucket `{}` is in `{}`, the job runs in `{}`", bucket,
                              printable(location), region),
                  "reading and writing would be slow, and paid for",
                  {fmt::format("gcloud storage buckets create gs://NAME --location={}", region),
                   "--region=" + printable(location)})};
}

/// The job's account uses the bucket, or else the service agent.
Problems check_bucket_access(const std::string& bucket,
                             const std::string& owner,
                             const PlannedJob& job,
                             const Sources& sources) {
  const bool is_own = owner == sources.project->number();
  if (!job.service_account && is_own) {
    return {};  // the agent's own role covers the buckets of its project
  }
  const auto member = job.service_account ? "serviceAccount:" + *job.service_account
                                          : agent_member(sources.project->number());
  const auto what = fmt::format("whether `{}` may use bucket `{}`", printable(member), bucket);
  auto answer =
      sources.apis->get(Service::storage, fmt::format("/b/{}/iam", percent_encode(bucket)));
  if (!answer.ok()) {
    return {refusal_finding("bucket", what, Service::storage, answer, job.project())};
  }
  auto grant = grant_of(*answer.body, member, storage_roles);
  if (grant == Grant::no) {
    answer = sources.apis->post(Service::cloudresourcemanager,
                                fmt::format("/v1/projects/{}:getIamPolicy", percent_encode(owner)),
                                json::object());
    if (!answer.ok()) {
      return {refusal_finding("bucket", what, Service::cloudresourcemanager, answer, owner)};
    }
    grant = grant_of(*answer.body, member, storage_roles);
  }
  if (grant == Grant::yes) {
    return {};
  }
  if (grant == Grant::perhaps) {
    return {unknown("bucket", what, "it depends on a custom role or a group")};
  }
  return {warning("bucket", fmt::format("`{}` may not use bucket `{}`", printable(member), bucket),
                  "the job runs as that account, and could not write its output there",
                  {fmt::format("gcloud storage buckets add-iam-policy-binding gs://{} --member={} "
                               "--role=roles/storage.objectUser",
                               bucket, shell_quote(member))})};
}

}  // namespace

Problems check_bucket(const std::string& bucket, const PlannedJob& job, const Sources& sources) {
  const Named named{.check = "bucket",
                    .what = fmt::format("bucket `{}`", printable(bucket)),
                    .service = Service::storage,
                    .remedies = {fmt::format("gcloud storage buckets create gs://{} --project={} "
                                             "--location={}",
                                             printable(bucket), job.project(), job.region())}};
  const auto answer = sources.apis->get(Service::storage, "/b/" + percent_encode(bucket));
  if (const auto finding = missing(named, answer, job)) {
    return {*finding};
  }
  auto findings = check_bucket_place(bucket, *answer.body, job);
  findings.push_back(ok("bucket", named.what + " exists"));
  if (const auto owner = text_at(*answer.body, "projectNumber"); !owner.empty()) {
    auto more = check_bucket_access(bucket, owner, job, sources);
    std::ranges::move(more, std::back_inserter(findings));
  }
  return findings;
}

Problems check_tensorboard(const PlannedJob& job, const Sources& sources) {
  const auto& board = job.tensorboard.value();
  const Named named{.check = "tensorboard",
                    .what = fmt::format("TensorBoard `{}`", printable(board)),
                    .service = Service::aiplatform,
                    .remedies = {fmt::format("gcloud ai tensorboards list --project={} --region={}",
                                             job.project(), job.region())}};
  const auto answer = sources.apis->get(named.service, "/v1/" + url_path(board));
  const auto finding = missing(named, answer, job);
  return {finding ? *finding : ok(named.check, named.what + " exists")};
}

Problems check_network(const PlannedJob& job, const Sources& sources) {
  const auto& network = job.network.value();
  const auto name = network.substr(network.rfind('/') + 1);
  const auto project = split(network + "///", '/').at(1);
  const Named named{
      .check = "network",
      .what = fmt::format("network `{}`", printable(network)),
      .service = Service::compute,
      .remedies = {fmt::format("gcloud compute networks list --project={}", printable(project))}};
  const auto answer = sources.apis->get(named.service, "/" + url_path(network));
  if (const auto finding = missing(named, answer, job)) {
    return {*finding};
  }
  for (const auto& peering : answer.body->value("peerings", json::array())) {
    if (text_at(peering, "name") == "servicenetworking-googleapis-com" &&
        text_at(peering, "state") == "ACTIVE") {
      return {ok(named.check, named.what + " is peered with Google's services")};
    }
  }
  return {failing(named.check, named.what + " is not peered with Google's services",
                  "the service would refuse the job",
                  {fmt::format("gcloud services vpc-peerings connect --network={} --project={} "
                               "--service=servicenetworking.googleapis.com --ranges=RANGE",
                               printable(name), printable(project))})};
}

Problems check_persistent_resource(const PlannedJob& job, const Sources& sources) {
  const auto& id = job.persistent_resource.value();
  const Named named{
      .check = "persistent-resource",
      .what = fmt::format("persistent resource `{}` in `{}`", printable(id), job.region()),
      .service = Service::aiplatform,
      .remedies = {fmt::format("gcloud ai persistent-resources list --project={} --region={}",
                               job.project(), job.region())}};
  const auto answer = sources.apis->get(
      named.service,
      fmt::format("/v1/projects/{}/locations/{}/persistentResources/{}",
                  percent_encode(job.project()), percent_encode(job.region()), percent_encode(id)));
  if (const auto finding = missing(named, answer, job)) {
    return {*finding};
  }
  const auto state = text_at(*answer.body, "state");
  if (state == "ERROR" || state == "STOPPING") {
    return {failing(named.check, fmt::format("{} is `{}`", named.what, state), "it accepts no jobs",
                    named.remedies)};
  }
  std::vector<std::string> machines;
  for (const auto& pool : answer.body->value("resourcePools", json::array())) {
    const auto spec = pool.is_object() ? pool.value("machineSpec", json{}) : json{};
    machines.push_back(text_at(spec, "machineType"));
  }
  for (const auto& pool : job.pools) {
    const auto machine = machine_of(pool).type.value_or("");
    if (!machines.empty() && !contains(machines, machine)) {
      return {
          failing(named.check,
                  fmt::format("{} has no machines of type `{}`", named.what, printable(machine)),
                  "the job would wait forever",
                  {fmt::format("machine-type={}", printable(machines.front()))})};
    }
  }
  return {ok(named.check, named.what + " exists")};
}

}  // namespace autopack::preflight
