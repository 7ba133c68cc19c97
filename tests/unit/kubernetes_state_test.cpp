#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "kubernetes/pod_logs.hpp"
#include "kubernetes/state.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace autopack::kubernetes_state_test {

using kubernetes::ObjectKind;
using kubernetes::ObjectName;
using kubernetes::Observed;
using nlohmann::json;

namespace {

std::shared_ptr<const json> shared(const json& value) {
  return std::make_shared<const json>(value);
}

json object_with(const json& status, const json& spec = json::object()) {
  return {{"metadata",
           {{"name", "taxi"},
            {"namespace", "ml"},
            {"creationTimestamp", "2026-11-26T22:00:00Z"},
            {"labels", {{"kueue.x-k8s.io/queue-name", "team-a"}}}}},
          {"spec", spec},
          {"status", status}};
}

json condition(const std::string& type,
               const std::string& reason = "",
               const std::string& text = "") {
  return {{"type", type},
          {"status", "True"},
          {"reason", reason},
          {"message", text},
          {"lastTransitionTime", "2026-11-26T22:05:00Z"}};
}

json pod_with(const json& state, const json& conditions = json::array()) {
  return {{"metadata",
           {{"name", "p"},
            {"uid", "u"},
            {"labels",
             {{"jobset.sigs.k8s.io/replicatedjob-name", "workerpool1"},
              {"jobset.sigs.k8s.io/job-index", "2"}}}}},
          {"status",
           {{"phase", "Pending"},
            {"conditions", conditions},
            {"containerStatuses",
             json::array({{{"name", "trainer"}, {"restartCount", 0}, {"state", state}}})}}}};
}

json job_of(const json& object,
            const json& pods = json::array(),
            const json& events = json::array()) {
  return kubernetes::job_of({.kind = ObjectKind::job,
                             .object = shared(object),
                             .pods = shared(pods),
                             .events = shared(events)},
                            "lab");
}

/// Returns the directory with recorded answers of real servers; empty without it.
std::string recorded_answers() {
  const char* const oracle = std::getenv("AUTOPACK_ORACLE");
  const auto directory = std::string{oracle == nullptr ? "" : oracle} + "/kubernetes/answers";
  return std::filesystem::exists(directory) ? directory : "";
}

json recorded(const std::string& name) {
  const auto record = autopack::parse_json(read_file(recorded_answers() + "/" + name + ".json"));
  return record.contains("response") ? record["response"] : record;
}

}  // namespace

TEST_CASE("the name of a job says where it is") {
  const auto name = ObjectName::parse("kubernetes/arn:aws:eks:r:1:cluster/lab/ml/taxi-1");
  REQUIRE(name);
  CHECK(name->context == "arn:aws:eks:r:1:cluster/lab");
  CHECK(name->name_space == "ml");
  CHECK(name->name == "taxi-1");
  CHECK(name->text() == "kubernetes/arn:aws:eks:r:1:cluster/lab/ml/taxi-1");
  for (const auto* text : {"", "taxi", "kubernetes/", "kubernetes/a/b", "kubernetes//b/c",
                           "kubernetes/a//c", "kubernetes/a/b/", "local/1/2/3"}) {
    CAPTURE(text);
    CHECK(!ObjectName::parse(text));
  }
}

TEST_CASE("a job has the state of its object, and the reason of its pods") {
  CHECK(text_at(job_of(object_with(json::object())), "state") == "JOB_STATE_PENDING");
  CHECK(text_at(job_of(object_with({{"ready", 1}})), "state") == "JOB_STATE_RUNNING");
  const auto done = job_of(object_with({{"conditions", json::array({condition("Complete")})}}));
  CHECK(text_at(done, "state") == "JOB_STATE_SUCCEEDED");
  CHECK(text_at(done, "endTime") == "2026-11-26T22:05:00Z");
  // The two early conditions end nothing.
  CHECK(
      text_at(job_of(object_with({{"conditions", json::array({condition("SuccessCriteriaMet")})}})),
              "state") == "JOB_STATE_PENDING");
  const auto unscheduled =
      json::array({{{"type", "PodScheduled"}, {"status", "False"}, {"message", "0/3 nodes"}}});
  const auto pending =
      job_of(object_with(json::object()), json::array({pod_with(json::object(), unscheduled)}));
  CHECK(text_at(pending, "detail") == "workerpool1-2: no node: 0/3 nodes");
  const auto pulling = job_of(
      object_with(json::object()),
      json::array(
          {pod_with({{"waiting", {{"reason", "ErrImagePull"}, {"message", "no such\nimage"}}}})}));
  CHECK(text_at(pulling, "detail") == "workerpool1-2: ErrImagePull: no such image");
  const auto refused = job_of(object_with(json::object()), json::array(),
                              json::array({{{"reason", "FailedCreate"}, {"message", "quota"}},
                                           {{"reason", "Other"}, {"message", "x"}}}));
  CHECK(text_at(refused, "detail") == "quota");
  auto deleted = object_with({{"ready", 1}});
  deleted["metadata"]["deletionTimestamp"] = "2026-11-26T22:05:00Z";
  CHECK(text_at(job_of(deleted), "state") == "JOB_STATE_CANCELLING");
}

TEST_CASE("a failed job says which replica failed first, and how") {
  const auto failed =
      object_with({{"conditions", json::array({condition("Failed", "x", "text")})}});
  const auto ended = [](int status, const char* reason, const char* time) {
    return pod_with(
        {{"terminated", {{"exitCode", status}, {"reason", reason}, {"finishedAt", time}}}});
  };
  CHECK(job_of(failed)["error"] == json{{"code", 13}, {"message", "text"}});
  CHECK(job_of(failed, json::array({ended(1, "Error", "2026-11-26T22:05:01Z"),
                                    ended(137, "OOMKilled", "2026-11-26T22:05:00Z"),
                                    ended(0, "Completed", "2026-11-26T22:04:00Z")}))["error"] ==
        json{{"code", 8},
             {"message",
              "The replica workerpool1-2 ran out of memory and exited with a non-zero status of "
              "137."}});
  const auto late =
      object_with({{"conditions", json::array({condition("Failed", "DeadlineExceeded")})}});
  CHECK(job_of(late)["error"]["code"] == 4);
  // The reason of a JobSet is its failure policy; that of its Job is the deadline.
  const auto by_job = kubernetes::job_of(
      {.kind = ObjectKind::job_set, .object = shared(failed), .jobs = shared(json::array({late}))},
      "c");
  CHECK(by_job["error"]["code"] == 4);
}

TEST_CASE("a job that was deleted was cancelled, unless it had ended") {
  CHECK(kubernetes::vanished({{"state", "JOB_STATE_RUNNING"}})["state"] == "JOB_STATE_CANCELLED");
  CHECK(kubernetes::vanished({{"state", "JOB_STATE_SUCCEEDED"}})["state"] == "JOB_STATE_SUCCEEDED");
}

TEST_CASE("objects of unexpected types are no crash") {
  for (const auto* text :
       {"{}", R"({"metadata":[],"spec":1,"status":"x"})", R"({"metadata":{"labels":[]}})",
        R"({"status":{"conditions":{"a":1},"ready":"x"}})", R"({"spec":{"suspend":"no"}})",
        R"({"status":{"conditions":[1,null,{"type":1}]}})"}) {
    CAPTURE(text);
    const auto object = autopack::parse_json(text);
    for (const auto kind : {ObjectKind::job, ObjectKind::job_set, ObjectKind::train_job}) {
      const auto job = kubernetes::job_of({.kind = kind,
                                           .object = shared(object),
                                           .pods = shared(json::array({object, 1, nullptr})),
                                           .events = shared(json::array({object, 2}))},
                                          "c");
      CHECK(job.contains("state"));
    }
  }
}

TEST_CASE("a log is split into entries, and what was seen is left out") {
  submit::LogCursor cursor;
  const auto texts = [](const std::vector<google::LogEntry>& entries) {
    std::string all;
    for (const auto& entry : entries) {
      all += entry.message + "|";
    }
    return all;
  };
  kubernetes::LogLines first{cursor, "workerpool0-0"};
  CHECK(texts(first.feed("2026-01-02T03:04:05.1Z a\n2026-01-02T03:04:0")) == "a|");
  CHECK(texts(first.feed("5.2Z b\n2026-01-02T03:04:05.2Z b\nno time\n2026-01-02T03:04:06Z cu")) ==
        "b|b|no time|");
  kubernetes::LogLines second{cursor, "workerpool0-0"};
  CHECK(texts(second.feed("2026-01-02T03:04:05.2Z b\n2026-01-02T03:04:05.2Z b\n"
                          "2026-01-02T03:04:05.2Z b\n2026-01-02T03:04:06Z cut\n\n"
                          "2026-01-02T03:04:07Z\n2026-01-02T03:04:08Z end")) == "b|cut|||");
  CHECK(texts(second.end()) == "end|");
  CHECK(texts(second.end()).empty());
  kubernetes::LogLines endless{cursor, "workerpool0-0"};
  CHECK(endless.feed(std::string(1 << 20U, 'x')).size() == 1);
}

TEST_CASE("recorded objects of real servers have the expected states" *
          doctest::skip(recorded_answers().empty())) {
  const auto state = [](const std::string& name, ObjectKind kind) {
    CAPTURE(name);
    return text_at(kubernetes::job_of({.kind = kind, .object = shared(recorded(name))}, "c"),
                   "state");
  };
  CHECK(state("job-create-201", ObjectKind::job) == "JOB_STATE_PENDING");
  CHECK(state("job-running", ObjectKind::job) == "JOB_STATE_RUNNING");
  CHECK(state("job-succeed-final", ObjectKind::job) == "JOB_STATE_SUCCEEDED");
  for (const auto* name : {"job-oom-final", "job-deadline-final", "job-fail-backoff0-final",
                           "job-podfailurepolicy-failjob-final", "job-maxfailedindexes-final"}) {
    CHECK(state(name, ObjectKind::job) == "JOB_STATE_FAILED");
  }
  CHECK(state("jobset-running", ObjectKind::job_set) == "JOB_STATE_RUNNING");
  CHECK(state("jobset-ok1-final", ObjectKind::job_set) == "JOB_STATE_SUCCEEDED");
  CHECK(state("jobset-fail1-final", ObjectKind::job_set) == "JOB_STATE_FAILED");
  CHECK(state("kueue-jobset-waiting-status", ObjectKind::job_set) == "JOB_STATE_QUEUED");
  CHECK(state("trainjob-complete", ObjectKind::train_job) == "JOB_STATE_SUCCEEDED");
  CHECK(state("trainjob-status", ObjectKind::train_job) == "JOB_STATE_RUNNING");

  const auto pods = recorded("job-oom-pods")["items"];
  const auto oom = kubernetes::job_of(
      {.kind = ObjectKind::job, .object = shared(recorded("job-oom-final")), .pods = shared(pods)},
      "c");
  CHECK(oom["error"]["message"] ==
        "The replica workerpool0-0 ran out of memory and exited with a non-zero status of 137.");

  const auto waiting = autopack::parse_json(
      read_file(recorded_answers() + "/kueue-workload-waiting.json"))["workload"];
  const auto queued = kubernetes::job_of({.kind = ObjectKind::job_set,
                                          .object = shared(recorded("kueue-jobset-waiting-status")),
                                          .workload = shared(waiting),
                                          .position = 1},
                                         "c");
  CHECK(text_at(queued, "detail").starts_with("queue team-a, 1 before it: couldn't assign"));
  const auto pulling =
      kubernetes::job_of({.kind = ObjectKind::job,
                          .object = shared(recorded("job-create-201")),
                          .pods = shared(recorded("pod-imagepullbackoff")["items"])},
                         "c");
  CHECK(text_at(pulling, "detail").starts_with("workerpool0-0: ImagePullBackOff: Back-off"));
  const auto blocked =
      kubernetes::job_of({.kind = ObjectKind::job,
                          .object = shared(recorded("job-create-201")),
                          .events = shared(recorded("podsecurity-job-events")["items"])},
                         "c");
  CHECK(text_at(blocked, "detail").find("violates PodSecurity") != std::string::npos);
}

}  // namespace autopack::kubernetes_state_test
