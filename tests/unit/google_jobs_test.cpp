#include "base/json.hpp"
#include "base/url.hpp"
#include "google/jobs.hpp"
#include "google/logging.hpp"
#include "support/fake_google.hpp"

#include <doctest/doctest.h>

namespace autopack::google_jobs_test {

using autopack::testing::answer;
using autopack::testing::FakeGoogle;
using autopack::testing::FakeHttp;
using google::JobKind;
using google::JobName;
using google::Timestamp;
using nlohmann::json;
using Reason = http::TransportError::Reason;

namespace {

const JobName name{.project = "p", .region = "r", .kind = JobKind::tuning, .id = "7"};
const std::string job_text = R"({"name": "projects/p/locations/r/hyperparameterTuningJobs/7"})";

template <class Action>
std::string message_of(Action&& action) {
  try {
    std::forward<Action>(action)();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::remote);
    return error.message() + (error.causes().empty() ? "" : ": " + error.causes().front());
  }
  return "no error";
}

}  // namespace

TEST_CASE("a job's name is taken apart and put together") {
  for (const auto* text : {"projects/p/locations/us-central1/customJobs/1",
                           "projects/123/locations/r/hyperparameterTuningJobs/2",
                           "projects/example.com:p/locations/r/trainingPipelines/3"}) {
    const auto parsed = JobName::parse(text);
    REQUIRE(parsed);
    CHECK(parsed->text() == text);
  }
  for (const auto* text :
       {"", "7", "projects/p/locations/r/customJobs", "projects/p/locations/r/customJobs/",
        "projects//locations/r/customJobs/7", "projects/p/locations/r/batchPredictionJobs/7",
        "projects/p/locations/r/customJobs/7/operations/8", "/projects/p/locations/r/customJobs/7",
        "projects/p/regions/r/customJobs/7", "projects/../locations/r/customJobs/7",
        "projects/p/locations/r/customJobs/7?x=1", "projects/p/locations/r/customJobs/a b",
        "projects/p/locations/r/customJobs/7\n", "projects/p/locations/r%2f/customJobs/7"}) {
    CAPTURE(text);
    CHECK_FALSE(JobName::parse(text));
  }
}

TEST_CASE("all pages of a list are read, with the service's filter") {
  FakeHttp client{{answer(200, R"({"customJobs": [{"name": "a"}], "nextPageToken": "x/y"})"),
                   answer(200, R"({"nextPageToken": "z"})"),
                   answer(200, R"({"customJobs": [{"name": "b"}, {"name": "c"}]})")}};
  FakeGoogle google{client};
  std::string names;
  google::Jobs{google.service, {}}.list(
      {.project = "p", .region = "r", .filter = "labels.a=b AND state!=\"X\"", .page_size = 2},
      [&](const google::Job& job) {
        names += (*job)["name"].get<std::string>();
        return true;
      });
  CHECK(names == "abc");
  CHECK(client.requests.at(0).url ==
        "https://r-aiplatform.googleapis.com/v1/projects/p/locations/r/customJobs?pageSize=2"
        "&filter=labels.a%3Db%20AND%20state%21%3D%22X%22");
  CHECK(client.requests.at(1).url.ends_with("&pageToken=x%2Fy"));
  CHECK(client.requests.at(2).url.ends_with("&pageToken=z"));
}

TEST_CASE("a list that is left early asks for no further page") {
  FakeHttp client{{answer(200, R"({"customJobs": [{"name": "a"}, {"name": "b"}],
                                   "nextPageToken": "x"})")}};
  FakeGoogle google{client};
  int count = 0;
  google::Jobs{google.service, {}}.list({.project = "p", .region = "r"}, [&](const google::Job&) {
    ++count;
    return false;
  });
  CHECK(count == 1);
}

TEST_CASE("reading is repeated while the service is busy or away") {
  FakeHttp client{{answer(503, ""), Reason::reset, answer(429, ""), answer(200, job_text)}};
  FakeGoogle google{client};
  CHECK(google::Jobs{google.service, "http://127.0.0.1:1/"}.get(name));
  CHECK(google.sleeps == 3);
  CHECK(client.requests.at(0).url ==
        "http://127.0.0.1:1/v1/projects/p/locations/r/hyperparameterTuningJobs/7");
}

TEST_CASE("responses that are not jobs are reported") {
  const auto get = [](FakeHttp::Answer given) {
    FakeHttp client{{std::move(given)}};
    FakeGoogle google{client};
    return message_of([&] { static_cast<void>(google::Jobs{google.service, {}}.get(name)); });
  };
  const auto list = [](std::string text) {
    FakeHttp client{{answer(200, std::move(text))}};
    FakeGoogle google{client};
    return message_of([&] {
      google::Jobs{google.service, {}}.list({.project = "p", .region = "r"},
                                            [](const google::Job&) { return true; });
    });
  };
  const std::string read =
      "could not read tuning job `7`: GET https://r-aiplatform.googleapis.com"
      "/v1/projects/p/locations/r/hyperparameterTuningJobs/7: ";
  CHECK(get(answer(200, "<html>")) == read + "200, but the response has no job name");
  CHECK(get(answer(200, "[]")) == read + "200, but the response has no job name");
  CHECK(get(answer(200, R"({"name": 7})")) == read + "200, but the response has no job name");
  CHECK(get(answer(403, R"({"error": {"status": "PERMISSION_DENIED"}})")) ==
        read + "403 PERMISSION_DENIED");
  CHECK(get(answer(302, "")) == read + "302");
  CHECK(get(Reason::tls) == "the connection broke");
  const std::string listed =
      "could not list the custom jobs of `r`: GET "
      "https://r-aiplatform.googleapis.com/v1/projects/p/locations/r/"
      "customJobs: ";
  CHECK(list("") == listed + "the response is not a JSON object");
  CHECK(list("[1]") == listed + "the response is not a JSON object");
  CHECK(list(R"({"customJobs": {}})") == listed + "`customJobs` in the response is not a list");
  CHECK(list(R"({"customJobs": [7]})") == listed + "the list contains something that is not a job");
  CHECK(list(R"({"customJobs": [{}]})") ==
        listed + "the list contains something that is not a job");
}

TEST_CASE("no such job is none, not an error") {
  FakeHttp client{{answer(404, "{}")}};
  FakeGoogle google{client};
  CHECK(google::Jobs{google.service, {}}.get(name) == nullptr);
}

TEST_CASE("times are read to the nanosecond and written back") {
  CHECK(Timestamp::parse("1970-01-01T00:00:00Z") == Timestamp{});
  CHECK(Timestamp::parse("2026-01-02T03:04:05.000000006Z")->text() ==
        "2026-01-02T03:04:05.000000006Z");
  CHECK(Timestamp::parse("2026-01-02T03:04:05.5Z")->text() == "2026-01-02T03:04:05.500000000Z");
  CHECK(Timestamp::parse("2026-01-02T03:04:05+01:30")->readable() == "2026-01-02 01:34:05 +0000");
  CHECK(*Timestamp::parse("2026-01-02T03:04:05.9Z") > *Timestamp::parse("2026-01-02T03:04:05.89Z"));
  CHECK(Timestamp::parse("2024-02-29T00:00:00Z"));
  for (const auto* text : {"", "now", "2026-01-02", "2026-01-02T03:04:05", "2026-13-02T03:04:05Z",
                           "2026-02-29T00:00:00Z", "2026-01-02T24:00:00Z", "2026-01-02T03:04:05.Z",
                           "2026-01-02T03:04:05.1234567890Z", "2026-01-02T03:04:05ZZ",
                           "-026-01-02T03:04:05Z", "2026-01-02T03:04:05+0130"}) {
    CAPTURE(text);
    CHECK_FALSE(Timestamp::parse(text));
  }
}

TEST_CASE("log entries are read whatever they lack") {
  const auto read = [](const char* text) {
    return google::read_log_entry(autopack::parse_json(text));
  };
  const auto whole = read(R"({"timestamp": "2026-01-02T03:04:05Z", "insertId": "i",
      "severity": "ERROR", "resource": {"labels": {"task_name": "workerpool0-0"}},
      "jsonPayload": {"message": "words", "attrs": {}}})");
  REQUIRE(whole);
  CHECK(whole->message == "words");
  CHECK(whole->task == "workerpool0-0");
  CHECK(whole->severity == "ERROR");
  CHECK(read(R"({"textPayload": "plain"})")->message == "plain");
  CHECK(read(R"({"jsonPayload": {"loss": 1}})")->message == R"({"loss":1})");
  CHECK(read(R"({"jsonPayload": {"message": 7}})")->message == R"({"message":7})");
  CHECK(read(R"({"protoPayload": {"x": 1}})")->message == R"({"x":1})");
  CHECK(read(R"({"jsonPayload": "text"})")->message == "\"text\"");
  CHECK(read(R"({"textPayload": 7})")->message.empty());
  CHECK(read(R"({"receiveTimestamp": "1970-01-01T00:00:09Z"})")->time->seconds == 9);
  CHECK_FALSE(read(R"({"timestamp": "yesterday"})")->time);
  CHECK(read(R"({"severity": 200, "resource": [], "insertId": 7})")->severity == "DEFAULT");
  CHECK(read(R"({"resource": {"labels": {"task_name": 1}}})")->task == "unknown_task");
  CHECK(read("{}")->insert_id == "{}");
  CHECK_FALSE(read("7"));
  CHECK_FALSE(read("null"));
  CHECK_FALSE(read("[]"));
}

TEST_CASE("entries are asked for in the job's own project") {
  const google::LogQuery query{
      .project = "999", .job_id = "88", .task = "workerpool1-0", .since = {.seconds = 3600}};
  const auto call = google::entries_call(query, "next", "http://127.0.0.1:2/");
  CHECK(call.url == "http://127.0.0.1:2/v2/entries:list");
  const auto body = autopack::parse_json(call.body);
  CHECK(body == json{{"filter",
                      "resource.type=\"ml_job\" AND resource.labels.job_id=\"88\" AND "
                      "resource.labels.task_name=\"workerpool1-0\" AND "
                      "timestamp>=\"1970-01-01T01:00:00.000000000Z\""},
                     {"orderBy", "timestamp asc"},
                     {"pageSize", 1000},
                     {"pageToken", "next"},
                     {"resourceNames", {"projects/999"}}});
  const auto quoted = google::log_filter({.job_id = "a\"b\\c"});
  CHECK(quoted.find(R"(job_id="a\"b\\c")") != std::string::npos);
}

TEST_CASE("a response that is not a list of entries is reported") {
  const auto call = google::entries_call({.project = "p", .job_id = "7"}, {}, {});
  for (const auto* text : {"", "<html>", "[]", R"({"entries": {}})"}) {
    CHECK(message_of([&] { google::read_log_page(call, answer(200, text)); }) ==
          "could not read the logs of job `7`: POST https://logging.googleapis.com/v2/"
          "entries:list: the response is not a list of log entries");
  }
  const auto page = google::read_log_page(
      call, answer(200, R"({"entries": [7, {"textPayload": "a"}, null], "nextPageToken": "t"})"));
  CHECK(page.entries.size() == 1);
  CHECK(page.unreadable == 2);
  CHECK(page.next_page == "t");
}

}  // namespace autopack::google_jobs_test
