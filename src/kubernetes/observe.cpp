#include "kubernetes/observe.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "submit/submitter.hpp"

#include <fmt/format.h>

#include <exception>
#include <utility>
#include <vector>

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr auto* kueue_group = "kueue.x-k8s.io";
constexpr auto* visibility_group = "visibility.kueue.x-k8s.io";
/// Pools whose events are read.
constexpr std::size_t most_pools = 4;

std::string metadata_text(const json& object, const char* key) {
  const auto metadata = object.find("metadata");
  return metadata == object.end() ? "" : text_at(*metadata, key);
}

std::string label_at(const json& object, const char* name) {
  const auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object() || !metadata->contains("labels")) {
    return {};
  }
  return text_at((*metadata)["labels"], name);
}

/// Returns the names of the objects that report why pods are missing.
std::vector<std::string> reporters_of(const FoundObject& found) {
  const auto name = metadata_text(*found.object, "name");
  std::vector<std::string> names{name};
  if (found.kind == ObjectKind::train_job) {
    names.push_back(fmt::format("{}-{}-0", name, train_container));
  }
  if (found.kind == ObjectKind::job_set && found.object->contains("spec") &&
      (*found.object)["spec"].contains("replicatedJobs")) {
    for (const auto& pool : (*found.object)["spec"]["replicatedJobs"]) {
      if (names.size() <= most_pools) {
        names.push_back(fmt::format("{}-{}-0", name, text_at(pool, "name")));
      }
    }
  }
  return names;
}

bool has_ended_or_runs(const json& job) {
  const auto state = text_at(job, "state");
  return state != "JOB_STATE_PENDING" && state != "JOB_STATE_QUEUED";
}

}  // namespace

bool is_ours(const json& object) {
  return object.is_object() && !label_at(object, submit::submission_label).empty();
}

std::string Observer::collection(ObjectKind kind) const {
  const auto& facts = facts_of(kind);
  return collection_path(facts.version, name_space_, std::string{facts.plural});
}

ApiCall Observer::object_call(ObjectKind kind, const std::string& name) const {
  return {.what = "read the job", .path = collection(kind) + "/" + percent_encode(name)};
}

std::string Observer::pods_query(ObjectKind kind, const std::string& name) {
  return "labelSelector=" + percent_encode(fmt::format("{}={}", facts_of(kind).label, name));
}

std::optional<FoundObject> Observer::find(const std::string& name) {
  std::exception_ptr failure;
  bool could_read = false;
  for (const auto& facts : all_kinds()) {
    const auto call = object_call(facts.kind, name);
    const auto response = api_.ask(call);
    could_read = could_read || response.ok() || response.status == 404;
    if (response.ok()) {
      auto object = read_object(call, response, api_.login());
      if (is_ours(object)) {
        return FoundObject{.kind = facts.kind,
                           .object = std::make_shared<const json>(std::move(object))};
      }
    } else if (response.status != 404 && !failure) {
      failure = std::make_exception_ptr(refusal(call, response, api_.login()));
    }
  }
  if (!could_read && failure) {
    std::rethrow_exception(failure);
  }
  return std::nullopt;
}

/// Returns the items of a list; null if it cannot be read.
Observer::List Observer::read_list(const std::string& path, const std::string& query) {
  try {
    return std::make_shared<const json>(
        api_.list({.what = "read the state of the job", .path = path, .query = query}));
  } catch (const Error&) {
    return nullptr;
  }
}

Observer::List Observer::events_of(const FoundObject& found) {
  auto all = json::array();
  for (const auto& name : reporters_of(found)) {
    const auto some = read_list(collection_path("v1", name_space_, "events"),
                                "fieldSelector=" + percent_encode("involvedObject.name=" + name));
    if (!some) {
      break;
    }
    all.insert(all.end(), some->begin(), some->end());
  }
  return std::make_shared<const json>(std::move(all));
}

std::string Observer::version_of(const std::string& group, std::optional<std::string>& known) {
  if (!known) {
    const auto answer = api_.find({.what = "ask for " + group, .path = "/apis/" + group});
    known = answer.is_object() && answer.contains("preferredVersion")
                ? text_at(answer["preferredVersion"], "groupVersion")
                : "";
  }
  return *known;
}

std::shared_ptr<const json> Observer::workload_of(const json& object) {
  const auto version = version_of(kueue_group, kueue_);
  if (version.empty()) {
    return nullptr;
  }
  const auto list = read_list(
      collection_path(version, name_space_, "workloads"),
      "labelSelector=" + percent_encode("kueue.x-k8s.io/job-uid=" + metadata_text(object, "uid")));
  return list && !list->empty() ? std::make_shared<const json>(list->front()) : nullptr;
}

std::optional<std::int64_t> Observer::position_of(const json& object, const json& workload) {
  const auto version = version_of(visibility_group, visibility_);
  if (version.empty()) {
    return std::nullopt;
  }
  const auto waiting =
      api_.find({.what = "ask for the place in the queue",
                 .path = collection_path(version, name_space_, "localqueues") + "/" +
                         percent_encode(label_at(object, queue_label)) + "/pendingworkloads"});
  if (!waiting.is_object() || !waiting.contains("items")) {
    return std::nullopt;
  }
  for (const auto& one : waiting["items"]) {
    const auto place = one.find("positionInLocalQueue");
    if (metadata_text(one, "name") == metadata_text(workload, "name") && place != one.end() &&
        place->is_number_integer()) {
      return place->get<std::int64_t>();
    }
  }
  return std::nullopt;
}

Observed Observer::look(const FoundObject& found) {
  const auto name = metadata_text(*found.object, "name");
  Observed seen{.kind = found.kind, .object = found.object};
  seen.pods = read_list(pods_path(), pods_query(found.kind, name));
  const auto job = job_of(seen, "");
  if (text_at(job, "state") == "JOB_STATE_FAILED" && found.kind != ObjectKind::job) {
    seen.jobs = read_list(collection(ObjectKind::job), pods_query(found.kind, name));
  }
  if (has_ended_or_runs(job)) {
    return seen;
  }
  try {
    if (!label_at(*found.object, queue_label).empty()) {
      seen.workload = workload_of(*found.object);
      if (seen.workload) {
        seen.position = position_of(*found.object, *seen.workload);
      }
    }
  } catch (const Error&) {
    // The job is followed without these.
  }
  if (!seen.pods || seen.pods->empty()) {
    seen.events = events_of(found);
  }
  return seen;
}

}  // namespace autopack::kubernetes
