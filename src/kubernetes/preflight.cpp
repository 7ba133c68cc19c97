#include "kubernetes/preflight.hpp"

#include "base/json.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <mutex>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

// A dry run of a JobSet sees little of its pods, and that of a Job does not see what keeps its pods
// from being created. Both are accepted by the cluster and then wait forever, so each pool is also
// tried as a Job and as a Pod. Queues and priority classes that do not exist are accepted, too.

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr auto* check_name = "cluster";
constexpr std::string_view dry_run = "dryRun=All&fieldManager=autopack&fieldValidation=Strict";
constexpr std::size_t parallel_calls = 8;

constexpr auto* metadata_only =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

Problem found(Problem problem) {
  problem.check = check_name;
  return problem;
}

Problem not_checked(const std::string& what, const std::string& why) {
  return found({.severity = Problem::Severity::unknown,
                .message = fmt::format("could not check {}", what),
                .reason = why});
}

Problems of_error(const Error& error) {
  auto problems = error.as_problems();
  for (auto& problem : problems) {
    problem.check = check_name;
  }
  return problems;
}

/// The quota of a refusal: `exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3`.
/// Returns true if a pod alone may be within it, so that it waits until others end.
bool waits_for_quota(const std::string& message) {
  const auto part = [&](std::string_view from, std::string_view to) {
    const auto begin = message.find(from);
    if (begin == std::string::npos) {
      return std::string{};
    }
    const auto end = message.find(to, begin);
    return message.substr(begin + from.size(),
                          end == std::string::npos ? std::string::npos : end - begin - from.size());
  };
  const auto used = part("used: ", ", limited: ");
  return message.find("exceeded quota") != std::string::npos && !used.empty() &&
         used.find_first_of("123456789") != std::string::npos;
}

/// The checks of one job.
class Preflight {
public:
  Preflight(Api& api, const job::Job& job, const ObjectOptions& options)
      : api_{api}, job_{job}, options_{options}, facts_{facts_of(kind_of(job, options))} {}

  Problems run();

private:
  using Check = std::function<void()>;

  void add(Problem problem) {
    const std::scoped_lock lock{mutex_};
    if (seen_.insert(problem.message + problem.reason.value_or("")).second) {
      problems_.push_back(found(std::move(problem)));
    }
  }

  ApiCall create_call(const std::string& version,
                      const std::string& plural,
                      const json& object,
                      const std::string& what) const {
    return {.what = what,
            .method = "POST",
            .path = collection_path(version, options_.name_space, plural),
            .query = std::string{dry_run},
            .body = write_json(object)};
  }

  bool check_object();
  void check_probe(const Probe& probe);
  void report_refusal(const ApiCall& call,
                      const http::Response& response,
                      const json& object,
                      const std::string& what);
  void check_right(const std::string& verb,
                   const std::string& group,
                   const std::string& resource,
                   const std::string& part,
                   const std::string& consequence);
  void check_queue();
  void check_priority();
  void check_existence(const std::string& path,
                       const std::string& what,
                       const std::string& consequence,
                       const std::string& hint);
  std::vector<Check> checks();
  void add_named_objects(std::vector<Check>& all);

  Api& api_;
  const job::Job& job_;
  const ObjectOptions& options_;
  const KindFacts& facts_;
  std::mutex mutex_{};
  std::set<std::string> seen_{};
  Problems problems_{};
};

void Preflight::report_refusal(const ApiCall& call,
                               const http::Response& response,
                               const json& object,
                               const std::string& what) {
  const auto status = read_status(response);
  if (!status.causes.empty() && (status.code == 422 || status.code == 400)) {
    for (const auto& cause : status.causes) {
      const auto place = cause.field.empty() ? what : words_of_field(object, cause.field);
      add({.message = fmt::format("the cluster refuses {}", place),
           .reason = cause.message.empty() ? status.message : cause.message});
    }
    return;
  }
  for (auto& problem : of_error(refusal(call, response, api_.login()))) {
    add(std::move(problem));
  }
}

/// Returns true if the other checks make sense.
bool Preflight::check_object() {
  const auto object = make_object(job_, options_, no_submission);
  const auto call = create_call(std::string{facts_.version}, std::string{facts_.plural}, object,
                                fmt::format("create a {} in the namespace `{}`", facts_.name,
                                            printable(options_.name_space)));
  const auto response = api_.ask(call);
  // A job of that name exists: the dry run came that far.
  if (response.ok() || response.status == 409) {
    return true;
  }
  report_refusal(call, response, object, "the job");
  const auto status = read_status(response);
  return status.code == 422 || status.code == 400;
}

void Preflight::check_probe(const Probe& probe) {
  const bool is_pod = probe.plural == "pods";
  const auto call =
      create_call(probe.version, probe.plural, *probe.object,
                  fmt::format("create {} of {}", is_pod ? "a pod" : "the job", probe.what));
  const auto response = api_.ask(call);
  const auto status = read_status(response);
  if (response.ok() || response.status == 409) {
    return;
  }
  if (status.lacks_right()) {
    add(not_checked(is_pod ? "quota, pod security and service account"
                           : "the pod templates of the worker pools",
                    fmt::format("that needs the right to create {} in the namespace `{}`",
                                probe.plural, printable(options_.name_space))));
  } else if (waits_for_quota(status.message)) {
    add(Problem::warning({.message = fmt::format("{} waits until others end", probe.what),
                          .reason = status.message}));
  } else {
    report_refusal(call, response, *probe.object, probe.what);
  }
}

void Preflight::check_right(const std::string& verb,
                            const std::string& group,
                            const std::string& resource,
                            const std::string& part,
                            const std::string& consequence) {
  json attributes{
      {"namespace", options_.name_space}, {"verb", verb}, {"group", group}, {"resource", resource}};
  if (!part.empty()) {
    attributes["subresource"] = part;
  }
  json review{{"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SelfSubjectAccessReview"}};
  review["spec"]["resourceAttributes"] = std::move(attributes);
  const ApiCall call{.what = "read the rights of the login",
                     .method = "POST",
                     .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                     .body = write_json(review)};
  const auto response = api_.ask(call);
  const auto answer = parse_json(response.body);
  if (!response.ok() || !answer.is_object() || !answer.contains("status")) {
    add(not_checked("the right to follow the job", "the answer has no result"));
    return;
  }
  const auto& status = answer["status"];
  const auto allowed = status.find("allowed");
  if (allowed != status.end() && allowed->is_boolean() && !allowed->get<bool>()) {
    const auto whole = resource + (part.empty() ? "" : "/" + part);
    add(Problem::warning(
        {.message = fmt::format("the login lacks the right to {} {} in the namespace `{}`", verb,
                                whole, printable(options_.name_space)),
         .hints = {fmt::format("check it: kubectl auth can-i {} {}{} --namespace={}", verb,
                               resource, part.empty() ? "" : " --subresource=" + part,
                               shell_quote(options_.name_space))},
         .reason = consequence}));
  }
}

/// Returns the condition `type` of an object; null without it.
json active_condition(const json& object, std::string_view type) {
  const auto status = object.find("status");
  if (status == object.end() || !status->contains("conditions")) {
    return nullptr;
  }
  for (const auto& one : (*status)["conditions"]) {
    if (text_at(one, "type") == type) {
      return one;
    }
  }
  return nullptr;
}

/// The version of Kueue's API that a cluster prefers; nothing without Kueue.
std::optional<std::string> kueue_version(Api& api) {
  const auto group = api.find({.what = "ask for Kueue's API", .path = "/apis/kueue.x-k8s.io"});
  if (group.is_null() || !group.contains("preferredVersion")) {
    return std::nullopt;
  }
  return non_empty(text_at(group["preferredVersion"], "groupVersion"));
}

void Preflight::check_queue() {
  const auto& queue = *options_.queue;
  const auto version = kueue_version(api_);
  if (!version) {
    add({.message = "the cluster has no Kueue, so that a job with a queue waits forever",
         .origin = "`--queue`",
         .hints = {"leave out `--queue`, or ask the cluster's administrator to install Kueue"}});
    return;
  }
  const ApiCall call{.what = "read the queue",
                     .path = collection_path(*version, options_.name_space, "localqueues") + "/" +
                             percent_encode(queue)};
  const auto response = api_.ask(call);
  const auto status = read_status(response);
  if (status.lacks_right()) {
    add(not_checked(fmt::format("the queue `{}`", printable(queue)),
                    "that needs the right to read localqueues"));
    return;
  }
  if (response.status == 404) {
    add({.message = fmt::format("the namespace `{}` has no queue `{}`: the job would wait forever",
                                printable(options_.name_space), printable(queue)),
         .origin = "`--queue`",
         .hints = {"list them: kubectl get localqueues --namespace=" +
                   shell_quote(options_.name_space)}});
    return;
  }
  const auto object = read_object(call, response, api_.login());
  const auto active = active_condition(object, "Active");
  if (active.is_object() && text_at(active, "status") == "False") {
    add(Problem::warning(
        {.message = fmt::format("the queue `{}` starts no jobs now", printable(queue)),
         .origin = "`--queue`",
         .reason = printable(text_at(active, "reason") + ": " + text_at(active, "message"))}));
  }
}

void Preflight::check_existence(const std::string& path,
                                const std::string& what,
                                const std::string& consequence,
                                const std::string& hint) {
  // A secret's content is not our business.
  const auto response = api_.ask({.what = "read " + what, .path = path, .accept = metadata_only});
  const auto status = read_status(response);
  if (status.lacks_right()) {
    add(not_checked(what, "the login lacks the right to read it"));
  } else if (response.status == 404) {
    add({.message = fmt::format("the cluster has no {}", what),
         .hints = {hint},
         .reason = consequence});
  }
}

void Preflight::check_priority() {
  const auto& name = *options_.priority_class;
  if (!options_.queue) {
    check_existence("/apis/scheduling.k8s.io/v1/priorityclasses/" + percent_encode(name),
                    fmt::format("priority class `{}`", printable(name)),
                    "its pods would never be created", "list them: kubectl get priorityclasses");
  } else if (const auto version = kueue_version(api_)) {
    check_existence(
        fmt::format("/apis/{}/workloadpriorityclasses/{}", *version, percent_encode(name)),
        fmt::format("workload priority class `{}`", printable(name)),
        "the job would wait forever, without a reason",
        "list them: kubectl get workloadpriorityclasses");
  }
}

/// Adds the checks of what the pod template names.
void Preflight::add_named_objects(std::vector<Check>& all) {
  const auto core = [&](const char* plural, const std::string& name) {
    return collection_path("v1", options_.name_space, plural) + "/" + percent_encode(name);
  };
  const auto probes = probes_of(job_, options_, no_submission);
  std::set<std::string> secrets;
  std::set<std::string> accounts;
  std::set<std::string> claims;
  for (const auto& probe : probes) {
    if (probe.plural != "pods") {
      continue;
    }
    const auto& spec = (*probe.object)["spec"];
    accounts.insert(text_at(spec, "serviceAccountName"));
    if (const auto list = spec.find("imagePullSecrets"); list != spec.end()) {
      for (const auto& one : *list) {
        secrets.insert(text_at(one, "name"));
      }
    }
    for (const auto& volume : spec["volumes"]) {
      if (const auto claim = volume.find("persistentVolumeClaim"); claim != volume.end()) {
        claims.insert(text_at(*claim, "claimName"));
      }
    }
  }
  const auto add_each = [&](const std::set<std::string>& names, const char* plural,
                            const std::string& what, const std::string& consequence) {
    for (const auto& name : names) {
      if (!name.empty()) {
        all.emplace_back([=, this] {
          check_existence(core(plural, name), fmt::format("{} `{}`", what, printable(name)),
                          consequence,
                          fmt::format("list them: kubectl get {} --namespace={}", plural,
                                      shell_quote(options_.name_space)));
        });
      }
    }
  };
  add_each(secrets, "secrets", "pull secret", "the image could not be pulled with it");
  add_each(accounts, "serviceaccounts", "service account", "its pods would never be created");
  add_each(claims, "persistentvolumeclaims", "volume claim", "its pods would wait forever");
}

std::vector<Preflight::Check> Preflight::checks() {
  std::vector<Check> all;
  for (const auto& probe : probes_of(job_, options_, no_submission)) {
    all.emplace_back([this, probe] { check_probe(probe); });
  }
  const std::string version{facts_.version};
  const auto group = version.substr(0, version.find('/'));
  all.emplace_back(
      [this] { check_right("get", "", "pods", "log", "autopack could not show the job's log"); });
  all.emplace_back([this] {
    check_right("list", "", "pods", "", "autopack could not report why the job waits");
  });
  all.emplace_back([this, group] {
    check_right("get", group, std::string{facts_.plural}, "", "autopack could not follow the job");
  });
  all.emplace_back([this, group] {
    check_right("delete", group, std::string{facts_.plural}, "",
                "autopack could not cancel the job");
  });
  if (options_.queue) {
    all.emplace_back([this] { check_queue(); });
  }
  if (options_.priority_class) {
    all.emplace_back([this] { check_priority(); });
  }
  add_named_objects(all);
  return all;
}

Problems Preflight::run() {
  if (!check_object()) {
    return std::move(problems_);
  }
  const auto all = checks();
  in_parallel(all.size(), parallel_calls, [&](std::size_t i) {
    try {
      all[i]();
    } catch (const Error& error) {
      for (auto& problem : of_error(error)) {
        problem.severity = Problem::Severity::unknown;
        add(std::move(problem));
      }
    }
  });
  std::ranges::stable_sort(problems_, {}, &Problem::severity);
  return std::move(problems_);
}

}  // namespace

Problems ask_cluster(Api& api, const job::Job& job, const ObjectOptions& options) {
  try {
    return Preflight{api, job, options}.run();
  } catch (const Error& error) {
    return of_error(error);
  }
}

}  // namespace autopack::kubernetes
