#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "submit/submitter.hpp"
#include "support/fake_google.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace autopack::submit_once_test {

using autopack::testing::answer;
using autopack::testing::FakeGoogle;
using autopack::testing::FakeHttp;
using nlohmann::json;
using Reason = http::TransportError::Reason;

namespace {

/// A service with jobs; each create fails as configured before it succeeds.
class JobService final : public http::Client {
public:
  enum class Create {
    good,
    kept_and_cut,      ///< the job is created, the connection breaks
    kept_and_503,      ///< the job is created, a proxy responds
    kept_and_garbled,  ///< the job is created, the response names none
    kept_late,         ///< the same as kept_and_cut, but the list shows it only the second time
    kept_too_late,     ///< the list shows it only the fourth time
    cut,               ///< no job, the connection breaks
    refused_503,       ///< no job
    unreachable,       ///< nothing was sent
    interrupted,       ///< the user, before anything was created
    killed,            ///< the job is created, nothing more happens in this run
    busy,              ///< 429 with a time to wait
    out_of_quota,      ///< 429 without one
    kept_and_interrupted,
  };

  explicit JobService(std::vector<Create> creates) : creates_{std::move(creates)} {}

  http::Response send(const http::Request& request) override {
    if (request.method == "GET") {
      ++looks;
      filters.push_back(percent_decode(request.url.substr(request.url.find("filter=") + 7)));
      return list();
    }
    if (request.url.ends_with(":cancel")) {
      cancelled.push_back(request.url.substr(request.url.find("projects")));
      return answer(200, "{}");
    }
    return create(autopack::parse_json(request.body));
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request&) override {
    throw std::runtime_error{"no upgrade is expected"};
  }

  int list_status{200};
  int looks{0};
  int creates_seen{0};
  std::vector<std::string> filters{};
  std::vector<std::string> labels{};
  std::vector<std::string> cancelled{};
  json jobs = json::array();

private:
  http::Response list() {
    if (list_status != 200) {
      return answer(list_status, R"({"error": {"message": "the list is closed"}})");
    }
    const bool hidden = hidden_looks_ > 0;
    hidden_looks_ -= hidden ? 1 : 0;
    return answer(200, json{{"customJobs", hidden ? json::array() : jobs}}.dump());
  }

  http::Response create(json body) {
    const auto how = creates_.at(static_cast<std::size_t>(creates_seen++));
    labels.push_back(body["labels"]["autopack-submission"]);
    body["name"] = "projects/p/locations/r/customJobs/" + std::to_string(creates_seen);
    const auto text = body.dump();
    const bool made = how != Create::cut && how != Create::refused_503 &&
                      how != Create::unreachable && how != Create::interrupted &&
                      how != Create::busy && how != Create::out_of_quota;
    if (made) {
      jobs.push_back(std::move(body));
    }
    if (how == Create::kept_late || how == Create::kept_too_late) {
      hidden_looks_ = how == Create::kept_late ? 1 : 3;
    }
    switch (how) {
      case Create::good: return answer(200, text);
      case Create::killed: throw std::runtime_error{"killed"};
      case Create::busy: {
        auto busy = answer(429, "{}");
        busy.headers = {{"Retry-After", "7"}};
        return busy;
      }
      case Create::out_of_quota: return answer(429, "{}");
      case Create::kept_and_503:
      case Create::refused_503: return answer(503, "<html>");
      case Create::kept_and_garbled: return answer(200, "<html>");
      case Create::unreachable: throw http::TransportError{Reason::connect, "no route"};
      case Create::interrupted:
      case Create::kept_and_interrupted: throw Interrupted{};
      default: throw http::TransportError{Reason::reset, "the connection broke"};
    }
  }

  std::vector<Create> creates_;
  int hidden_looks_{0};
};

using Create = JobService::Create;

struct Ended {
  std::string name{};
  std::optional<Error> error{};
  std::vector<std::string> created{};
};

Ended submit_to(JobService& service,
                const job::Job& job = {.display_name = "my job"},
                const std::optional<std::filesystem::path>& records = {}) {
  FakeGoogle google{service};
  Ended ended;
  const auto submitter = submit::make_vertex_submitter(
      {.location = {.project = "p", .region = "r"},
       .service = &google.service,
       .uninterrupted = [&]() -> http::Client& { return service; },
       .reporter = &google.reporter,
       .created =
           [&](const submit::SubmittedJob& made) { ended.created.push_back(made.name.value()); },
       .records = records});
  try {
    ended.name = submitter->submit(job).name.value();
  } catch (const Interrupted& end) {
    ended.error = end.report();
  } catch (const Error& error) {
    ended.error = error;
  }
  return ended;
}

bool holds(const std::vector<std::string>& texts, const std::string& fragment) {
  const auto all = join(texts, "\n");
  CAPTURE(all);
  return all.find(fragment) != std::string::npos;
}

}  // namespace

TEST_CASE("a job is made exactly once, whatever became of the answer") {
  struct Case {
    std::vector<Create> creates{};
    int sent{};
  };

  for (const auto& [creates, sent] : {
           Case{{Create::good}, 1},
           Case{{Create::kept_and_cut}, 1},
           Case{{Create::kept_and_503}, 1},
           Case{{Create::kept_and_garbled}, 1},
           Case{{Create::kept_late}, 1},
           Case{{Create::cut, Create::good}, 2},
           Case{{Create::refused_503, Create::good}, 2},
           Case{{Create::unreachable, Create::good}, 2},
           Case{{Create::unreachable, Create::cut, Create::kept_and_cut}, 3},
           Case{{Create::refused_503, Create::refused_503, Create::refused_503, Create::good}, 4},
       }) {
    JobService service{creates};
    const auto ended = submit_to(service);
    REQUIRE_FALSE(ended.error);
    CHECK(service.jobs.size() == 1);
    CHECK(service.jobs[0]["name"].get<std::string>() == ended.name);
    CHECK(ended.created == std::vector<std::string>{ended.name});
    CHECK(service.creates_seen == sent);
    CHECK(std::count(service.labels.begin(), service.labels.end(), service.labels[0]) == sent);
    if (service.looks > 0) {
      CHECK(service.filters[0] == "labels.autopack-submission=\"" + service.labels[0] + "\"");
    }
  }
}

TEST_CASE("two submissions of the same job have different labels") {
  JobService service{{Create::good, Create::good}};
  static_cast<void>(submit_to(service));
  static_cast<void>(submit_to(service));
  CHECK(service.labels.at(0) != service.labels.at(1));
}

TEST_CASE("a job that others made does not pass for ours") {
  JobService service{{Create::cut, Create::good}};
  service.jobs.push_back({{"name", "projects/p/locations/r/customJobs/99"},
                          {"labels", {{"autopack-submission", "another"}}}});
  service.jobs.push_back({{"name", "projects/p/locations/r/customJobs/98"}});
  CHECK(submit_to(service).name == "projects/p/locations/r/customJobs/2");
}

TEST_CASE("a job that shows up after the second create is cancelled") {
  JobService service{{Create::kept_too_late, Create::good}};
  const auto ended = submit_to(service);
  CHECK(ended.name == "projects/p/locations/r/customJobs/2");
  CHECK(service.cancelled ==
        std::vector<std::string>{"projects/p/locations/r/customJobs/1:cancel"});
}

TEST_CASE("a create that stays without effect ends as an error") {
  JobService service{{Create::cut, Create::refused_503, Create::unreachable, Create::cut}};
  const auto ended = submit_to(service);
  REQUIRE(ended.error);
  CHECK(ended.error->kind() == ErrorKind::remote);
  CHECK(ended.error->message() == "job `my job` could not be created");
  CHECK(service.jobs.empty());
  CHECK(ended.created.empty());
}

TEST_CASE("a create is not repeated when the list cannot be read") {
  for (const int status : {403, 503}) {
    JobService service{{Create::kept_and_cut}};
    service.list_status = status;
    const auto ended = submit_to(service);
    REQUIRE(ended.error);
    CHECK(ended.error->message() == "it is not known whether job `my job` was created");
    CHECK(holds(ended.error->hints(), "autopack jobs list --project=p --region=r --filter="));
    CHECK(holds(ended.error->hints(), service.labels[0]));
    CHECK(service.creates_seen == 1);
  }
}

TEST_CASE("an interruption of the create reports whether there is a job") {
  JobService made{{Create::kept_and_interrupted}};
  auto ended = submit_to(made);
  REQUIRE(ended.error);
  CHECK(ended.error->kind() == ErrorKind::interrupted);
  CHECK(ended.error->message() == "interrupted; the job was created and continues");
  CHECK(ended.created == std::vector<std::string>{"projects/p/locations/r/customJobs/1"});
  CHECK(holds(ended.error->hints(), "autopack jobs cancel projects/p/locations/r/customJobs/1"));

  JobService none{{Create::interrupted}};
  ended = submit_to(none);
  REQUIRE(ended.error);
  CHECK(ended.error->message() == "interrupted; the job was not created");
  CHECK(ended.created.empty());

  JobService unknown{{Create::kept_and_interrupted}};
  unknown.list_status = 500;
  ended = submit_to(unknown);
  REQUIRE(ended.error);
  CHECK(ended.error->kind() == ErrorKind::interrupted);
  CHECK(ended.error->message() == "interrupted; it is not known whether job `my job` was created");
}

TEST_CASE("pipelines that cannot be listed by label are found by name") {
  const job::Job pipeline{.display_name = "my \"job\"", .kind = job::JobKind::training_pipeline};
  FakeHttp client{{Reason::reset, answer(400, "{}"), answer(200, R"({"trainingPipelines": []})"),
                   answer(400, "{}"), answer(200, "{}"), answer(400, "{}"), answer(200, "{}"),
                   answer(200, R"({"name": "projects/p/locations/r/trainingPipelines/5"})"),
                   answer(200, "{}")}};
  FakeGoogle google{client};
  const auto submitter = submit::make_vertex_submitter({.location = {.project = "p", .region = "r"},
                                                        .service = &google.service,
                                                        .reporter = &google.reporter,
                                                        .created = [](const auto&) {}});
  CHECK(submitter->submit(pipeline).name == "projects/p/locations/r/trainingPipelines/5");
  CHECK(percent_decode(client.requests.at(2).url)
            .ends_with("filter=display_name=\"my \\\"job\\\"\""));
}

TEST_CASE("a run after one that was killed takes the job that this had made") {
  const TemporaryDirectory folder;
  const job::Job job{.display_name = "my job"};
  JobService service{{Create::killed, Create::good, Create::good}};
  CHECK_THROWS_AS(submit_to(service, job, folder.path()), std::runtime_error);
  const auto other = submit_to(service, {.display_name = "another"}, folder.path());
  CHECK(other.name == "projects/p/locations/r/customJobs/2");
  const auto again = submit_to(service, job, folder.path());
  CHECK(again.name == "projects/p/locations/r/customJobs/1");
  CHECK(again.created == std::vector<std::string>{again.name});
  CHECK(service.creates_seen == 2);
  CHECK(std::filesystem::is_empty(folder.path()));
  CHECK(submit_to(service, job, folder.path()).name == "projects/p/locations/r/customJobs/3");
}

TEST_CASE("a run after one that was killed before it made a job makes it with the same label") {
  const TemporaryDirectory folder;
  const job::Job job{.display_name = "my job"};
  JobService service{{Create::killed, Create::good}};
  CHECK_THROWS_AS(submit_to(service, job, folder.path()), std::runtime_error);
  service.jobs.clear();
  CHECK(submit_to(service, job, folder.path()).name == "projects/p/locations/r/customJobs/2");
  CHECK(service.labels.at(0) == service.labels.at(1));
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a job is not made again while it is not known whether an earlier run made it") {
  const TemporaryDirectory folder;
  const job::Job job{.display_name = "my job"};
  JobService service{{Create::killed}};
  CHECK_THROWS_AS(submit_to(service, job, folder.path()), std::runtime_error);
  service.list_status = 403;
  const auto ended = submit_to(service, job, folder.path());
  REQUIRE(ended.error);
  CHECK(ended.error->message() == "it is not known whether job `my job` was created");
  CHECK(holds(ended.error->hints(), "to submit again, whatever it shows: rm "));
  CHECK(service.creates_seen == 1);
}

TEST_CASE("a busy service is retried when it says, an exhausted quota is reported") {
  JobService busy{{Create::busy, Create::good}};
  CHECK(submit_to(busy).name == "projects/p/locations/r/customJobs/2");
  JobService full{{Create::out_of_quota}};
  const auto ended = submit_to(full);
  REQUIRE(ended.error);
  CHECK(full.creates_seen == 1);
  JobService always{{Create::busy, Create::busy, Create::busy, Create::busy}};
  CHECK(submit_to(always).error->message() == "Vertex AI refused the job");
}

}  // namespace autopack::submit_once_test
