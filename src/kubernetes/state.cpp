#include "kubernetes/state.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/line.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

// The reason why a job does not run is in one of many places: the object's conditions, Kueue's
// Workload, the pods, and the events of what creates them. The job gets one state, and the most
// useful reason.

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

constexpr std::string_view prefix = "kubernetes/";
constexpr std::size_t longest_detail = 1000;
constexpr int invalid_argument = 3;  // google.rpc.Code, as Vertex AI has it for a failed program
constexpr int deadline_exceeded = 4;
constexpr int resource_exhausted = 8;
constexpr int internal = 13;

const json none = json::object();

/// Returns the object at a path of keys; an empty one if it is absent.
const json& at(const json& object, std::initializer_list<const char*> path) {
  const json* found = &object;
  for (const auto* key : path) {
    const auto next = found->is_object() ? found->find(key) : found->end();
    if (!found->is_object() || next == found->end()) {
      return none;
    }
    found = &*next;
  }
  return *found;
}

const json& list_of(const std::shared_ptr<const json>& list) {
  return list && list->is_array() ? *list : none;
}

std::int64_t number_at(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() && found->is_number_integer()
             ? found->get<std::int64_t>()
             : 0;
}

std::string one_line(const std::string& text) {
  return printable(single_spaced(text)).substr(0, longest_detail);
}

/// Returns the condition `type` that is `status`; an empty object without it.
const json& condition(const json& object, std::string_view type, std::string_view status = "True") {
  const auto& all = at(object, {"status", "conditions"});
  for (const auto& one : all) {
    if (text_at(one, "type") == type && text_at(one, "status") == status) {
      return one;
    }
  }
  return none;
}

bool is_set(const json& found) {
  return found.is_object() && !found.empty();
}

std::string label(const json& object, const char* name) {
  return text_at(at(object, {"metadata", "labels"}), name);
}

/// Returns the condition that ended the job successfully: `Complete` of a Job and a TrainJob,
/// `Completed` of a JobSet.
const json& success_of(const json& object) {
  const auto& complete = condition(object, "Complete");
  return is_set(complete) ? complete : condition(object, "Completed");
}

bool is_program(const std::string& container) {
  return container == container_name || container == train_container;
}

/// Returns the status of the container that runs the program; an empty object before it has one.
const json& program_status(const json& pod) {
  const auto& all = at(pod, {"status", "containerStatuses"});
  for (const auto& one : all) {
    if (is_program(text_at(one, "name"))) {
      return one;
    }
  }
  return none;
}

bool is_running(const json& pod) {
  return is_set(at(program_status(pod), {"state", "running"})) ||
         text_at(at(pod, {"status"}), "phase") == "Running";
}

/// How a program ended badly.
struct Exit {
  std::string replica{};
  std::int64_t status{0};
  std::string reason{};
  std::string time{};
};

/// Returns the failure that happened first: the others are often its consequence.
std::optional<Exit> first_failure(const json& pods) {
  std::optional<Exit> first;
  for (const auto& pod : pods) {
    const auto& ended = at(program_status(pod), {"state", "terminated"});
    const auto status = number_at(ended, "exitCode");
    if (!is_set(ended) || status == 0) {
      continue;
    }
    Exit exit{.replica = replica_of(pod),
              .status = status,
              .reason = text_at(ended, "reason"),
              .time = text_at(ended, "finishedAt")};
    if (!first || exit.time < first->time) {
      first = std::move(exit);
    }
  }
  return first;
}

/// A JobSet does not have the reason why its Jobs failed.
bool ran_too_long(const Observed& observed, const json& failed) {
  const auto& jobs = list_of(observed.jobs);
  return text_at(failed, "reason") == "DeadlineExceeded" ||
         text_at(failed, "message").find("DeadlineExceeded") != std::string::npos ||
         std::any_of(jobs.begin(), jobs.end(), [](const json& job) {
           return text_at(condition(job, "Failed"), "reason") == "DeadlineExceeded";
         });
}

json error_of(const Observed& observed, const json& failed) {
  const auto reason = text_at(failed, "reason");
  const auto message = one_line(text_at(failed, "message"));
  if (ran_too_long(observed, failed)) {
    return {{"code", deadline_exceeded},
            {"message", "The job ran longer than its timeout: the cluster ended it."}};
  }
  if (const auto exit = first_failure(list_of(observed.pods))) {
    if (exit->reason == "OOMKilled") {
      return {{"code", resource_exhausted},
              {"message", fmt::format("The replica {} ran out of memory and exited with a non-zero "
                                      "status of {}.",
                                      exit->replica, exit->status)}};
    }
    return {{"code", invalid_argument},
            {"message", fmt::format("The replica {} exited with a non-zero status of {}. "
                                    "Termination reason: {}.",
                                    exit->replica, exit->status,
                                    exit->reason.empty() ? "Error" : printable(exit->reason))}};
  }
  return {{"code", reason == "PodFailurePolicy" ? invalid_argument : internal},
          {"message", message.empty() ? printable(reason) : message}};
}

/// Reasons of a waiting container that do not pass by themselves.
constexpr std::array<std::string_view, 9> stuck{
    "ErrImagePull",         "ImagePullBackOff",    "InvalidImageName",
    "ErrImageNeverPull",    "RegistryUnavailable", "CreateContainerConfigError",
    "CreateContainerError", "RunContainerError",   "CrashLoopBackOff"};

/// Returns why pods do not run; empty if there is no reason.
std::string reason_of_pods(const json& pods) {
  std::string waits;
  for (const auto& pod : pods) {
    const auto replica = replica_of(pod);
    const auto& waiting = at(program_status(pod), {"state", "waiting"});
    const auto reason = text_at(waiting, "reason");
    if (contains(stuck, reason)) {
      return one_line(fmt::format("{}: {}: {}", replica, reason, text_at(waiting, "message")));
    }
    const auto& unscheduled = condition(pod, "PodScheduled", "False");
    if (is_set(unscheduled)) {
      waits = fmt::format("{}: no node: {}", replica, text_at(unscheduled, "message"));
    } else if (waits.empty() && !reason.empty()) {
      waits = fmt::format("{}: {}", replica, reason);
    }
  }
  return one_line(waits);
}

std::string time_of(const json& event) {
  for (const auto* key : {"lastTimestamp", "eventTime", "firstTimestamp"}) {
    if (auto time = text_at(event, key); !time.empty()) {
      return time;
    }
  }
  return text_at(at(event, {"metadata"}), "creationTimestamp");
}

/// Returns the newest event with the reason why no pod was created.
std::string reason_of_events(const json& events) {
  const json* newest = nullptr;
  for (const auto& event : events) {
    const auto reason = text_at(event, "reason");
    const auto message = text_at(event, "message");
    const bool failed = reason == "FailedCreate" || reason == "JobCreationFailed";
    // JobSet reports this while it restarts its Jobs.
    const bool is_noise = message.find("already exists") != std::string::npos;
    if (failed && !is_noise && (newest == nullptr || time_of(event) >= time_of(*newest))) {
      newest = &event;
    }
  }
  return newest == nullptr ? "" : one_line(text_at(*newest, "message"));
}

std::string reason_of_queue(const Observed& observed) {
  const auto& object = *observed.object;
  const auto queue = label(object, queue_label);
  if (!observed.workload) {
    return queue.empty() ? "it is suspended"
                         : fmt::format("queue {}: no Workload of Kueue yet", printable(queue));
  }
  const auto& workload = *observed.workload;
  const auto& active = at(workload, {"spec", "active"});
  if (active.is_boolean() && !active.get<bool>()) {
    return "its Workload is deactivated: it does not start again";
  }
  std::string text = "queue " + queue;
  if (observed.position) {
    text += fmt::format(", {} before it", *observed.position);
  }
  const auto& preempted = condition(workload, "Preempted");
  const auto& waits = condition(workload, "QuotaReserved", "False");
  if (is_set(preempted)) {
    text += ": " + text_at(preempted, "message");
  }
  if (is_set(waits)) {
    text += ": " + text_at(waits, "message");
  }
  return one_line(text);
}

struct Counts {
  std::int64_t ready{0};
  std::int64_t wanted{0};
};

/// Returns how many replicas run, by the object alone.
Counts counts_of(const Observed& observed) {
  const auto& object = *observed.object;
  Counts counts;
  if (observed.kind == ObjectKind::job) {
    counts = {.ready = number_at(at(object, {"status"}), "ready"),
              .wanted = number_at(at(object, {"spec"}), "parallelism")};
    return counts;
  }
  const auto* list = observed.kind == ObjectKind::job_set ? "replicatedJobsStatus" : "jobsStatus";
  const auto& all = at(object, {"status", list});
  for (const auto& one : all) {
    counts.ready += number_at(one, "ready");
  }
  if (observed.kind == ObjectKind::train_job) {
    counts.wanted = number_at(at(object, {"spec", "trainer"}), "numNodes");
    return counts;
  }
  const auto& pools = at(object, {"spec", "replicatedJobs"});
  for (const auto& pool : pools) {
    counts.wanted += number_at(pool, "replicas");
  }
  return counts;
}

bool is_suspended(const json& object) {
  const auto& suspend = at(object, {"spec", "suspend"});
  return is_set(condition(object, "Suspended")) || (suspend.is_boolean() && suspend.get<bool>());
}

std::string first_start(const Observed& observed) {
  auto first = text_at(at(*observed.object, {"status"}), "startTime");
  for (const auto& pod : list_of(observed.pods)) {
    const auto& state = at(program_status(pod), {"state"});
    for (const auto* key : {"running", "terminated"}) {
      const auto time = text_at(at(state, {key}), "startedAt");
      if (!time.empty() && (first.empty() || time < first)) {
        first = time;
      }
    }
  }
  return first;
}

std::string reason_to_wait(const Observed& observed) {
  auto reason = reason_of_pods(list_of(observed.pods));
  return reason.empty() ? reason_of_events(list_of(observed.events)) : reason;
}

/// Sets the state of a job that has not ended, and why it waits.
void set_unfinished_state(const Observed& observed, json& job) {
  const auto& object = *observed.object;
  const auto& pods = list_of(observed.pods);
  const auto running = std::count_if(pods.begin(), pods.end(), is_running);
  const auto counts = counts_of(observed);
  const auto ready = std::max<std::int64_t>(counts.ready, running);
  if (is_set(at(object, {"metadata"})) && at(object, {"metadata"}).contains("deletionTimestamp")) {
    job["state"] = "JOB_STATE_CANCELLING";
  } else if (is_suspended(object)) {
    job["state"] = "JOB_STATE_QUEUED";
    job["detail"] = reason_of_queue(observed);
  } else if (ready > 0) {
    job["state"] = "JOB_STATE_RUNNING";
    auto reason = ready < counts.wanted ? reason_to_wait(observed) : "";
    if (!reason.empty()) {
      job["detail"] = std::move(reason);
    }
  } else {
    job["state"] = "JOB_STATE_PENDING";
    job["detail"] = reason_to_wait(observed);
  }
}

}  // namespace

std::optional<ObjectName> ObjectName::parse(std::string_view text) {
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  const auto last = text.rfind('/');
  const auto before = last == std::string_view::npos || last == 0 ? std::string_view::npos
                                                                  : text.rfind('/', last - 1);
  if (before == std::string_view::npos) {
    return std::nullopt;
  }
  ObjectName name{.context = std::string{text.substr(0, before)},
                  .name_space = std::string{text.substr(before + 1, last - before - 1)},
                  .name = std::string{text.substr(last + 1)}};
  const bool is_whole = !name.context.empty() && !name.name_space.empty() && !name.name.empty();
  return is_whole ? std::optional{std::move(name)} : std::nullopt;
}

std::string ObjectName::text() const {
  return fmt::format("{}{}/{}/{}", prefix, context, name_space, name);
}

std::string replica_of(const json& pod) {
  const auto job = label(pod, "jobset.sigs.k8s.io/replicatedjob-name");
  const auto index = label(pod, "batch.kubernetes.io/job-completion-index");
  if (job.starts_with("workerpool")) {
    return printable(job + "-" + label(pod, "jobset.sigs.k8s.io/job-index"));
  }
  return printable("workerpool0-" + (index.empty() ? "0" : index));
}

std::optional<ReadableLog> readable_log(const json& pod) {
  const auto& status = program_status(pod);
  const auto& metadata = at(pod, {"metadata"});
  const bool has_ended = is_set(at(status, {"state", "terminated"}));
  const bool has_started = has_ended || is_set(at(status, {"state", "running"})) ||
                           is_set(at(status, {"lastState", "terminated"}));
  if (!has_started) {
    return std::nullopt;
  }
  return ReadableLog{.pod = text_at(metadata, "name"),
                     .uid = text_at(metadata, "uid"),
                     .container = text_at(status, "name"),
                     .replica = replica_of(pod),
                     .restarts = number_at(status, "restartCount"),
                     .has_ended = has_ended};
}

json job_of(const Observed& observed, const std::string& context) {
  const auto& object = *observed.object;
  const auto& metadata = at(object, {"metadata"});
  const ObjectName name{.context = context,
                        .name_space = text_at(metadata, "namespace"),
                        .name = text_at(metadata, "name")};
  const auto display_name = text_at(at(metadata, {"annotations"}), display_name_annotation);
  json job{{"name", name.text()},
           {"displayName", display_name.empty() ? name.name : display_name},
           {"createTime", text_at(metadata, "creationTimestamp")},
           {"labels", at(metadata, {"labels"})},
           {"kind", facts_of(observed.kind).name}};
  if (auto start = first_start(observed); !start.empty()) {
    job["startTime"] = std::move(start);
  }
  const auto& success = success_of(object);
  const auto& failed = condition(object, "Failed");
  if (is_set(success)) {
    job["state"] = "JOB_STATE_SUCCEEDED";
    job["endTime"] = text_at(success, "lastTransitionTime");
  } else if (is_set(failed)) {
    job["state"] = "JOB_STATE_FAILED";
    job["endTime"] = text_at(failed, "lastTransitionTime");
    job["error"] = error_of(observed, failed);
    job["detail"] = job["error"]["message"];
  } else {
    set_unfinished_state(observed, job);
  }
  if (text_at(job, "detail").empty()) {
    job.erase("detail");
  }
  return job;
}

json vanished(json before) {
  const auto state = text_at(before, "state");
  if (state != "JOB_STATE_SUCCEEDED" && state != "JOB_STATE_FAILED") {
    before["state"] = "JOB_STATE_CANCELLED";
    before["detail"] = "it was deleted in the cluster";
  }
  return before;
}

}  // namespace autopack::kubernetes
