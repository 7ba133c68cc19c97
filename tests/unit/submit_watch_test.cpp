#include "base/json.hpp"
#include "base/text.hpp"
#include "submit/job_state.hpp"
#include "submit/poll_interval.hpp"
#include "submit/watch.hpp"
#include "support/fake_google.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::submit_watch_test {

using autopack::testing::answer;
using autopack::testing::FakeGoogle;
using google::LogEntry;
using google::Timestamp;
using nlohmann::json;
using namespace std::chrono_literals;
using Reason = http::TransportError::Reason;

namespace {

const std::string job_name = "projects/999/locations/r/customJobs/88";

http::Response in_state(const std::string& state, json more = json::object()) {
  more.update({{"name", job_name}, {"state", state}});
  return answer(200, more.dump());
}

json entry(int second, const std::string& id, const std::string& message) {
  return {{"timestamp", Timestamp{.seconds = 1'000'000 + second}.text()},
          {"insertId", id},
          {"textPayload", message}};
}

http::Response page(std::vector<json> entries, const std::string& next = {}) {
  return answer(200, json{{"entries", entries}, {"nextPageToken", next}}.dump());
}

using Answer = autopack::testing::FakeHttp::Answer;

/// Returns responses to reads of the job from one list and to reads of its log from another;
/// repeats the last one of each.
class Service final : public http::Client {
public:
  Service(std::vector<Answer> states, std::vector<Answer> logs)
      : states_{std::move(states)}, logs_{std::move(logs)} {}

  http::Response send(const http::Request& request) override {
    const bool is_log = request.method == "POST";
    if (is_log) {
      log_requests.push_back(autopack::parse_json(request.body));
    }
    auto& asked = is_log ? logs_asked : states_asked;
    const auto& answers = is_log ? logs_ : states_;
    const auto& given = answers.at(std::min(asked++, answers.size() - 1));
    if (const auto* const reason = std::get_if<Reason>(&given)) {
      throw http::TransportError{*reason, "the connection broke"};
    }
    return std::get<http::Response>(given);
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request&) override {
    throw std::runtime_error{"no upgrade is expected"};
  }

  std::size_t states_asked{0};
  std::size_t logs_asked{0};
  std::vector<json> log_requests{};

private:
  std::vector<Answer> states_;
  std::vector<Answer> logs_;
};

struct Watched {
  google::Job job{};
  std::optional<Error> error{};
  std::vector<std::string> states{};
  std::vector<std::string> messages{};
  std::vector<std::string> warnings{};
  std::chrono::milliseconds took{0};
};

Watched watch(Service& service, bool with_logs = true, bool logs_required = true) {
  FakeGoogle google{service};
  Watched watched;
  const google::Jobs jobs{google.service, {}};
  submit::WatchOptions options{
      .jobs = &jobs,
      .name = google::JobName::parse(job_name).value(),
      .reporter = &google.reporter,
      .changed =
          [&](const google::Job& job) { watched.states.push_back(submit::state_of(*job).word); },
      .logged = [&](const LogEntry& told) { watched.messages.push_back(told.message); },
      .now = [&] { return google.slept; },
      .date = [] { return std::int64_t{2'000'000}; }};
  if (with_logs) {
    options.logs = submit::LogOptions{.required = logs_required};
  }
  try {
    watched.job = submit::watch(std::move(options));
  } catch (const Error& error) {
    watched.error = error;
  }
  for (const auto& warning : google.reporter.warnings) {
    watched.warnings.push_back(warning.message);
  }
  watched.took = google.slept;
  return watched;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("every state says whether it is an end and a success") {
  struct Case {
    const char* state{};
    const char* word{};
    bool ended{};
    bool succeeded{};
  };

  for (const auto& item :
       {Case{"JOB_STATE_QUEUED", "queued", false, false},
        Case{"JOB_STATE_PENDING", "pending", false, false},
        Case{"JOB_STATE_RUNNING", "running", false, false},
        Case{"JOB_STATE_UPDATING", "updating", false, false},
        Case{"JOB_STATE_CANCELLING", "cancelling", false, false},
        Case{"JOB_STATE_SUCCEEDED", "succeeded", true, true},
        Case{"JOB_STATE_FAILED", "failed", true, false},
        Case{"JOB_STATE_CANCELLED", "cancelled", true, false},
        Case{"JOB_STATE_PAUSED", "paused", true, false},
        Case{"JOB_STATE_EXPIRED", "expired", true, false},
        Case{"JOB_STATE_PARTIALLY_SUCCEEDED", "partially_succeeded", true, false},
        Case{"PIPELINE_STATE_RUNNING", "running", false, false},
        Case{"PIPELINE_STATE_SUCCEEDED", "succeeded", true, true},
        Case{"PIPELINE_STATE_FAILED", "failed", true, false},
        Case{"JOB_STATE_UNSPECIFIED", "unknown", false, false},
        Case{"JOB_STATE_BRAND_NEW", "brand_new", false, false}}) {
    const std::string state = item.state;
    CAPTURE(state);
    const json job{{"name", job_name}, {"state", state}};
    const auto read = submit::state_of(job);
    CHECK(read.word == item.word);
    CHECK(read.ended == item.ended);
    CHECK(read.succeeded == item.succeeded);
    CHECK(submit::failure_of(job).has_value() != item.succeeded);
    if (!item.succeeded) {
      CHECK(exit_status(submit::failure_of(job)->kind()) == 1);
    }
  }
  CHECK(submit::state_of(json{{"state", 7}}).word == "unknown");
}

TEST_CASE("a failed job's error is reported with its meaning") {
  const json job{{"name", job_name},
                 {"state", "JOB_STATE_FAILED"},
                 {"error",
                  {{"code", 8},
                   {"message",
                    "The following quota metrics exceed quota limits: "
                    "aiplatform.googleapis.com/custom_model_training_cpus"}}}};
  const auto failure = submit::failure_of(job);
  REQUIRE(failure);
  CHECK(failure->message() == "custom job `" + job_name + "` failed");
  CHECK(failure->causes().at(0) ==
        "RESOURCE_EXHAUSTED: The following quota metrics exceed quota limits: "
        "aiplatform.googleapis.com/custom_model_training_cpus");
  CHECK(failure->causes().at(1) == "the project has no such quota left in this region");
  CHECK(failure->hints().at(0).find("--consumer=projects/999;") != std::string::npos);
  CHECK(failure->hints().at(1) == "see all of it: autopack jobs describe " + job_name);
  for (const auto& error : {json("text"), json::object(), json{{"code", "x"}}, json{{"message", 7}},
                            json{{"code", 99}}}) {
    CHECK(submit::failure_of(json{{"state", "JOB_STATE_FAILED"}, {"error", error}})->message() ==
          "job `` failed");
  }
}

TEST_CASE("a pipeline's log is that of the job it started") {
  json pipeline{{"name", "projects/p/locations/r/trainingPipelines/1"}};
  CHECK_FALSE(submit::logging_job_id(pipeline));
  pipeline["trainingTaskMetadata"] = {{"backingCustomJob", "projects/p/locations/r/customJobs/2"}};
  CHECK(submit::logging_job_id(pipeline) == "2");
  pipeline["trainingTaskMetadata"]["backingHyperparameterTuningJob"] =
      "projects/p/locations/r/hyperparameterTuningJobs/3";
  CHECK(submit::logging_job_id(pipeline) == "3");
  CHECK(submit::logging_job_id(json{{"name", job_name}}) == "88");
  CHECK_FALSE(submit::logging_job_id(json{{"name", 7}}));
}

TEST_CASE("an entry is new once, by its time and its id") {
  submit::LogCursor cursor;
  const auto at = [](std::int64_t second, const char* id) {
    return LogEntry{.time = Timestamp{.seconds = second}, .insert_id = id};
  };
  CHECK(cursor.since().text() == "1970-01-01T01:00:00.000000000Z");
  CHECK(cursor.take(at(100'000, "a")));
  CHECK(cursor.take(at(100'000, "b")));
  CHECK_FALSE(cursor.take(at(100'000, "a")));
  CHECK(cursor.take(at(100'001, "a")));
  CHECK(cursor.since().seconds == 100'001 - 30);
  CHECK(cursor.take(at(99'980, "late")));
  CHECK_FALSE(cursor.take(at(99'980, "late")));
  CHECK(cursor.since().seconds == 100'001 - 30);
  cursor.read_pages(4);
  CHECK(cursor.since().seconds == 100'001 - 5);
  cursor.read_pages(1);
  CHECK(cursor.since().seconds == 100'001 - 30);
  CHECK(cursor.take({.time = {}, .insert_id = "no time"}));
  CHECK_FALSE(cursor.take({.time = {}, .insert_id = "no time"}));
  CHECK(cursor.take(at(200'000, "z")));
  CHECK_FALSE(cursor.take(at(100'000, "a")));
}

TEST_CASE("looks become rarer while nothing happens") {
  submit::PollInterval interval{10s};
  std::vector<std::chrono::milliseconds> waits;
  for (int i = 0; i < 8; ++i) {
    waits.push_back(interval.next(false));
  }
  CHECK(waits == std::vector<std::chrono::milliseconds>{250ms, 500ms, 1s, 2s, 4s, 8s, 10s, 10s});
  CHECK(interval.next(true) == 2s);
  CHECK(interval.next(false) == 4s);
  CHECK(submit::PollInterval{1s}.last_entries() == 1s);
  CHECK(submit::PollInterval{10s}.last_entries() == 2s);
}

TEST_CASE("no minute has more readings than the quota") {
  submit::ReadQuota quota;
  int admitted = 0;
  for (auto now = 0ms; now < 10min; now += 100ms) {
    admitted += quota.admits(now) ? 1 : 0;
  }
  CHECK(admitted == 500);
}

TEST_CASE("a job is watched to its end, and each entry is reported once") {
  Service service{
      {in_state("JOB_STATE_PENDING"), in_state("JOB_STATE_RUNNING"), in_state("JOB_STATE_RUNNING"),
       in_state("JOB_STATE_SUCCEEDED")},
      {page({}), page({entry(1, "a", "one"), entry(1, "b", "two")}, "more"),
       page({entry(1, "b", "two"), entry(2, "a", "three")}),
       page({entry(1, "a", "one"), entry(1, "b", "two"), entry(2, "a", "three")}),
       page({entry(2, "a", "three"), entry(0, "late", "four")}), page({entry(2, "a", "three")})}};
  const auto watched = watch(service);
  REQUIRE_FALSE(watched.error);
  CHECK(watched.states == Texts{"pending", "running", "succeeded"});
  CHECK(watched.messages == Texts{"one", "two", "three", "four"});
  CHECK(service.states_asked == 4);
  CHECK(service.log_requests.at(0)["resourceNames"] == json{"projects/999"});
  CHECK(service.log_requests.at(2)["pageToken"] == "more");
  CHECK(service.log_requests.at(2)["filter"] == service.log_requests.at(1)["filter"]);
  CHECK_FALSE(service.log_requests.at(3).contains("pageToken"));
  CHECK(watched.warnings.empty());
}

TEST_CASE("a job that ended long ago is read once") {
  Service service{{in_state("JOB_STATE_FAILED", {{"endTime", "1970-01-02T00:00:00Z"}})},
                  {page({entry(1, "a", "one")}), page({entry(1, "a", "one")})}};
  const auto watched = watch(service);
  CHECK(watched.messages == Texts{"one"});
  CHECK(service.logs_asked == 2);
  CHECK(service.states_asked == 1);
}

TEST_CASE("entries that come after the job's end are waited for") {
  Service service{{in_state("JOB_STATE_SUCCEEDED")},
                  {page({}), page({}), page({entry(1, "a", "last")}), page({})}};
  const auto watched = watch(service);
  CHECK(watched.messages == Texts{"last"});
  CHECK(service.logs_asked == 6);
}

TEST_CASE("a job without any entry is warned of") {
  Service service{{in_state("JOB_STATE_SUCCEEDED")}, {page({})}};
  CHECK(watch(service).warnings == Texts{"the job left no log entry"});
}

TEST_CASE("a long log is read within the quota") {
  std::vector<Answer> pages;
  for (int i = 0; i < 200; ++i) {
    pages.emplace_back(page({entry(i, "a", std::to_string(i))}, "token" + std::to_string(i)));
  }
  pages.emplace_back(page({}));
  Service service{{in_state("JOB_STATE_SUCCEEDED")}, pages};
  const auto watched = watch(service);
  CHECK(watched.messages.size() == 200);
  CHECK(watched.took >= 4min - 1s);
}

TEST_CASE("a page that names itself as the next one is read once") {
  Service service{{in_state("JOB_STATE_SUCCEEDED")}, {page({entry(1, "a", "one")}, "same")}};
  const auto watched = watch(service);
  CHECK(watched.messages == Texts{"one"});
  CHECK(service.logs_asked < 20);
}

TEST_CASE("failures while waiting are retried and reported once") {
  Service service{{in_state("JOB_STATE_RUNNING"), Reason::reset, answer(503, ""), Reason::connect,
                   answer(429, ""), Reason::timeout, in_state("JOB_STATE_SUCCEEDED")},
                  {Reason::reset, answer(429, R"({"error": {"status": "RESOURCE_EXHAUSTED"}})"),
                   page({entry(1, "a", "one")})}};
  const auto watched = watch(service);
  REQUIRE_FALSE(watched.error);
  CHECK(watched.messages == Texts{"one"});
  CHECK(watched.states == Texts{"running", "succeeded"});
  CHECK(watched.warnings == Texts{"the connection broke: trying again (the job is not affected)"});
}

TEST_CASE("failures that do not end are reported with the next step") {
  Service service{{in_state("JOB_STATE_RUNNING"), Reason::connect}, {page({})}};
  const auto watched = watch(service, false);
  REQUIRE(watched.error);
  CHECK(exit_status(watched.error->kind()) == 1);
  CHECK(watched.took >= 30min);
  CHECK(service.states_asked < 100);
  CHECK(watched.error->hints().back() == "end it: autopack jobs cancel " + job_name);
}

TEST_CASE("a refusal ends the watch at once") {
  Service service{{in_state("JOB_STATE_RUNNING"), answer(403, "{}")}, {page({})}};
  auto watched = watch(service);
  REQUIRE(watched.error);
  CHECK(watched.error->message() == "could not read custom job `88`");
  CHECK(watched.error->hints().at(0) == "follow it: autopack jobs stream-logs " + job_name);
  Service gone{{answer(404, "{}")}, {page({})}};
  CHECK(watch(gone).error);
  Service garbled{{answer(200, "<html>")}, {page({})}};
  CHECK(watch(garbled).error);
}

TEST_CASE("logs that may not be read end a stream, but not a wait") {
  const auto refused = answer(403, R"({"error": {"status": "PERMISSION_DENIED",
               "message": "Permission 'logging.logEntries.list' denied"}})");
  Service service{{in_state("JOB_STATE_RUNNING"), in_state("JOB_STATE_SUCCEEDED")}, {refused}};
  auto watched = watch(service, true, true);
  REQUIRE(watched.error);
  CHECK(watched.error->hints().at(0).find("roles/logging.viewer") != std::string::npos);
  Service again{{in_state("JOB_STATE_RUNNING"), in_state("JOB_STATE_SUCCEEDED")}, {refused}};
  watched = watch(again, true, false);
  CHECK_FALSE(watched.error);
  CHECK(watched.states == Texts{"running", "succeeded"});
  CHECK(watched.warnings == Texts{"could not read the logs of job `88`; autopack follows the job "
                                  "without them"});
  CHECK(again.logs_asked == 1);
}

TEST_CASE("an expired page token restarts the reading") {
  Service service{{in_state("JOB_STATE_SUCCEEDED")},
                  {page({entry(1, "a", "one")}, "old"), answer(400, "{}"),
                   page({entry(1, "a", "one"), entry(2, "b", "two")}), page({})}};
  const auto watched = watch(service);
  REQUIRE_FALSE(watched.error);
  CHECK(watched.messages == Texts{"one", "two"});
  CHECK_FALSE(service.log_requests.at(2).contains("pageToken"));
}

TEST_CASE("entries that are none are left out, with one warning") {
  Service service{{in_state("JOB_STATE_SUCCEEDED")},
                  {page({json(7), entry(1, "a", "one"), json()}), page({json("x")})}};
  const auto watched = watch(service);
  CHECK(watched.messages == Texts{"one"});
  CHECK(watched.warnings.size() == 1);
}

}  // namespace autopack::submit_watch_test
