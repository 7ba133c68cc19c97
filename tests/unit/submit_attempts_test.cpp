#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "submit/attempts.hpp"
#include "submit/capacity.hpp"
#include "submit/job_state.hpp"
#include "submit/watch.hpp"
#include "support/fake_google.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

namespace autopack::submit_attempts_test {

using autopack::testing::answer;
using autopack::testing::FakeGoogle;
using nlohmann::json;
using Reason = http::TransportError::Reason;

namespace {

/// What happens to one request.
enum class Fault {
  cut_before,  ///< nothing happens, the connection breaks
  cut_after,   ///< the service does it, the connection breaks
  busy_before,
  busy_after,  ///< the service does it, a proxy responds
  garbled,     ///< the service does it, the response is not JSON
  killed_before,
  killed_after,
  interrupted_before,
  interrupted_after,
};

struct FaultAt {
  int request{};
  Fault fault{};
};

/// The regions of a service. Jobs in a full one fail for lack of machines.
class Regions final : public http::Client {
public:
  explicit Regions(std::set<std::string> full, std::vector<FaultAt> faults = {})
      : full_{std::move(full)}, faults_{std::move(faults)} {}

  http::Response send(const http::Request& request) override {
    const int number = requests++;
    const auto found = std::ranges::find(faults_, number, &FaultAt::request);
    if (found == faults_.end()) {
      return serve(request);
    }
    switch (found->fault) {
      case Fault::cut_after: serve(request); [[fallthrough]];
      case Fault::cut_before: throw http::TransportError{Reason::reset, "the connection broke"};
      case Fault::busy_after: serve(request); [[fallthrough]];
      case Fault::busy_before: return answer(503, "<html>");
      case Fault::garbled: serve(request); return answer(200, "<html>");
      case Fault::killed_after: serve(request); [[fallthrough]];
      case Fault::killed_before: throw std::runtime_error{"killed"};
      case Fault::interrupted_after: serve(request); [[fallthrough]];
      case Fault::interrupted_before: throw Interrupted{};
    }
    throw std::runtime_error{"no such fault"};
  }

  std::unique_ptr<http::Stream> upgrade(const http::Request&) override {
    throw std::runtime_error{"no upgrade is expected"};
  }

  /// Returns the regions of the jobs, in the order of creation.
  std::vector<std::string> places() const {
    std::vector<std::string> all;
    for (const auto& job : jobs) {
      all.push_back(region_of(job["name"]));
    }
    return all;
  }

  int requests{0};
  json jobs = json::array();
  std::map<std::string, http::Response> refusals{};  ///< of creates, by region

private:
  static std::string region_of(const std::string& path) {
    const auto at = path.find("locations/") + 10;
    return path.substr(at, path.find('/', at) - at);
  }

  http::Response serve(const http::Request& request) {
    const auto path = request.url.substr(request.url.find("projects/"));
    if (request.method == "POST") {
      return create(path, autopack::parse_json(request.body));
    }
    if (const auto filter = path.find("filter="); filter != std::string::npos) {
      return list(path, percent_decode(path.substr(filter + 7)));
    }
    for (const auto& job : jobs) {
      if (job["name"] == path) {
        return answer(200, ended(job).dump());
      }
    }
    return answer(404, "{}");
  }

  http::Response create(const std::string& path, json body) {
    if (const auto refusal = refusals.find(region_of(path)); refusal != refusals.end()) {
      return refusal->second;
    }
    body["name"] = path.substr(0, path.find('?')) + "/" + std::to_string(jobs.size() + 1);
    body["state"] = "JOB_STATE_PENDING";
    jobs.push_back(body);
    return answer(200, body.dump());
  }

  http::Response list(const std::string& path, const std::string& filter) const {
    auto found = json::array();
    for (const auto& job : jobs) {
      const auto own = "labels.autopack-submission=\"" +
                       job["labels"]["autopack-submission"].get<std::string>() + "\"";
      if (own == filter && region_of(job["name"]) == region_of(path)) {
        found.push_back(job);
      }
    }
    return answer(200, json{{"customJobs", found}}.dump());
  }

  json ended(json job) const {
    const bool is_full = full_.contains(region_of(job["name"]));
    job["state"] = is_full ? "JOB_STATE_FAILED" : "JOB_STATE_SUCCEEDED";
    if (is_full) {
      job["error"] = {{"code", 8}, {"message", "Resources are insufficient in region: r."}};
    }
    return job;
  }

  std::set<std::string> full_;
  std::vector<FaultAt> faults_;
};

struct Run {
  std::vector<std::string> created{};
  std::optional<submit::AttemptsEnd> end{};
  std::optional<Error> error{};
  bool was_killed{false};
  std::vector<submit::Tried> tried{};
  std::string reported{};
};

struct RunOptions {
  std::optional<std::filesystem::path> records{};
  bool follows{true};
  std::optional<std::string> group{};
  std::size_t earlier{0};
  std::vector<std::string> regions{"a", "b", "c"};
};

Run run_in(Regions& service, const RunOptions& how = {}) {
  FakeGoogle google{service};
  const google::Jobs jobs{google.service, std::nullopt};
  Run run;
  submit::AttemptsOptions options{
      .group = how.group,
      .earlier = how.earlier,
      .labels = {{"autopack-regions", "a_b_c"}},
      .submitter =
          [&](const submit::Place& place, submit::Attempt attempt) {
            return submit::make_vertex_submitter(
                {.location = {.project = "p", .region = place.candidate.region},
                 .service = &google.service,
                 .uninterrupted = [&]() -> http::Client& { return service; },
                 .reporter = &google.reporter,
                 .created =
                     [&](const submit::SubmittedJob& job) { run.created.push_back(*job.name); },
                 .attempt = std::move(attempt),
                 .records = how.records});
          },
      .reporter = &google.reporter,
      .changed = [&](const std::vector<submit::Tried>& tried) { run.tried = tried; }};
  for (const auto& region : how.regions) {
    options.places.push_back({.candidate = {.region = region}, .job = {.display_name = "taxi"}});
  }
  if (how.follows) {
    options.follow = [&](const std::string& name) {
      return submit::watch({.jobs = &jobs,
                            .name = google::JobName::parse(name).value(),
                            .reporter = &google.reporter,
                            .changed = [](const auto&) {},
                            .now = [&] { return google.slept; }});
    };
  }
  try {
    run.end = submit::run_attempts(options);
  } catch (const Interrupted& end) {
    run.error = end.report();
  } catch (const Error& error) {
    run.error = error;
  } catch (const std::runtime_error&) {
    run.was_killed = true;
  }
  for (const auto& line : google.reporter.lines) {
    run.reported += line + "\n";
  }
  return run;
}

using Strings = std::vector<std::string>;

/// Calls `check` with the service of each run with a fault at each request.
template <class Check>
int for_each_fault(std::initializer_list<Fault> faults, const Check& check) {
  Regions clean{{"a", "b"}};
  static_cast<void>(run_in(clean));
  int places = 0;
  for (int request = 0; request < clean.requests; ++request) {
    for (const auto fault : faults) {
      CAPTURE(request);
      CAPTURE(static_cast<int>(fault));
      check(FaultAt{request, fault});
      ++places;
    }
  }
  return places;
}

json failed(int code, const std::string& message, const std::string& state = "FAILED") {
  return {{"name", "projects/p/locations/r/customJobs/1"},
          {"state", "JOB_STATE_" + state},
          {"error", {{"code", code}, {"message", message}}}};
}

}  // namespace

TEST_CASE("a job moves to the next place while there is no capacity, and only then") {
  Regions service{{"a", "b"}};
  const auto run = run_in(service);
  REQUIRE(run.end);
  CHECK(service.places() == Strings{"a", "b", "c"});
  CHECK(submit::state_of(*run.end->ended).succeeded);
  CHECK(run.created.size() == 3);
  CHECK(run.reported.find("to b: no capacity in a (attempt 2 of 3)") != std::string::npos);
  CHECK(run.reported.find("to c: no capacity in b (attempt 3 of 3)") != std::string::npos);
  const auto group = service.jobs[0]["labels"]["autopack-submission"];
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& labels = service.jobs[i]["labels"];
    CHECK(labels["autopack-group"] == group);
    CHECK(labels["autopack-attempt"] == std::to_string(i + 1));
    CHECK(labels["autopack-regions"] == "a_b_c");
  }
  Regions full{{"a", "b", "c"}};
  const auto exhausted = run_in(full);
  REQUIRE(exhausted.end);
  CHECK_FALSE(submit::state_of(*exhausted.end->ended).succeeded);
  CHECK(exhausted.tried.size() == 3);
  CHECK(exhausted.tried.back().reason);
  Regions free{{}};
  const auto first = run_in(free);
  CHECK(free.places() == Strings{"a"});
  CHECK(first.end->left.size() == 2);
}

TEST_CASE("a refusal of the region leads to the next one, any other ends it") {
  Regions service{{}};
  service.refusals["a"] =
      answer(429, R"({"error": {"message": "quota metrics exceed: custom_model_training_cpus"}})");
  service.refusals["b"] =
      answer(400, R"({"error": {"message": "n1-x is not supported in region b"}})");
  auto run = run_in(service, {.follows = false});
  REQUIRE(run.end);
  CHECK(service.places() == Strings{"c"});
  CHECK(service.jobs[0]["labels"]["autopack-attempt"] == "3");
  CHECK(service.jobs[0]["labels"]["autopack-group"] ==
        service.jobs[0]["labels"]["autopack-submission"]);
  service.refusals["c"] = service.refusals["a"];
  run = run_in(service, {.follows = false});
  REQUIRE(run.error);
  CHECK(run.error->message() == "no place has capacity for the job; 3 were tried");
  CHECK(run.error->causes().size() == 3);
  for (const int status : {400, 401, 403, 404}) {
    Regions other{{}};
    other.refusals["a"] = answer(status, R"({"error": {"message": "the image is missing"}})");
    CHECK(run_in(other).error);
    CHECK(other.jobs.empty());
  }
}

TEST_CASE("there is one job for each place, wherever answers are cut") {
  const auto every = {Fault::cut_before, Fault::cut_after, Fault::busy_before, Fault::busy_after,
                      Fault::garbled};
  const Strings all{"a", "b", "c"};
  int places = 0;
  for_each_fault(every, [&](const FaultAt& first) {
    for_each_fault(every, [&](const FaultAt& second) {
      if (second.request <= first.request) {
        return;
      }
      ++places;
      Regions service{{"a", "b"}, {first, second}};
      const auto run = run_in(service);
      const auto made = service.places();
      REQUIRE(made.size() <= all.size());
      CHECK(std::equal(made.begin(), made.end(), all.begin()));
      const bool is_unclear = run.error && run.error->message().starts_with("it is not known");
      CHECK(run.created.size() <= made.size());
      CHECK(run.created.size() + (is_unclear ? 1 : 0) >= made.size());
      // A garbled response to a read, unlike one to a create, ends the run.
      if (first.fault != Fault::garbled && second.fault != Fault::garbled) {
        CHECK(run.end);
        CHECK(made == all);
      }
    });
  });
  CHECK(places > 200);
}

TEST_CASE("a run after one that was killed takes over the job that was not reported") {
  int places = 0;
  places += for_each_fault({Fault::killed_before, Fault::killed_after}, [&](const FaultAt& fault) {
    const TemporaryDirectory folder;
    Regions service{{"a", "b"}, {fault}};
    const auto killed = run_in(service, {.records = folder.path()});
    REQUIRE(killed.was_killed);
    const auto again = run_in(service, {.records = folder.path()});
    REQUIRE(again.end);
    CHECK(submit::state_of(*again.end->ended).succeeded);
    Strings reported = killed.created;
    reported.insert(reported.end(), again.created.begin(), again.created.end());
    CHECK(reported.size() == service.jobs.size());
    CHECK(std::filesystem::is_empty(folder.path()));
  });
  CHECK(places > 10);
}

TEST_CASE("an interruption starts no further attempt") {
  for_each_fault({Fault::interrupted_before, Fault::interrupted_after}, [&](const FaultAt& fault) {
    Regions service{{"a", "b"}, {fault}};
    const auto run = run_in(service);
    REQUIRE(run.error);
    CHECK(run.error->kind() == ErrorKind::interrupted);
    CHECK(run.created.size() == service.jobs.size());
  });
}

TEST_CASE("a retry of the same attempt on another machine finds the job") {
  Regions service{{"a"}};
  const std::string group(32, 'f');
  const RunOptions retry{.group = group, .earlier = 1, .regions = {"b"}};
  const auto first = run_in(service, retry);
  const auto second = run_in(service, retry);
  CHECK(service.places() == Strings{"b"});
  CHECK(first.created == second.created);
  CHECK(service.jobs[0]["labels"]["autopack-attempt"] == "2");
}

TEST_CASE("a lack of capacity and a failure of the program are distinguished") {
  const auto lacks = [](const json& job) { return submit::lack_of_capacity(job).has_value(); };
  const std::string documented =
      "Resources are insufficient in region: us-central1. Try a different region or use a "
      "different accelerator.";
  CHECK(submit::lack_of_capacity(failed(8, documented)) == documented);
  CHECK(lacks(failed(9, documented)));
  CHECK(lacks(failed(8, documented, "EXPIRED")));
  CHECK(lacks(failed(8, "exhausted")));
  CHECK(lacks(failed(14, "")));
  CHECK_FALSE(lacks(failed(13, "Internal error occurred for the current attempt.")));
  CHECK_FALSE(lacks(failed(8,
                           "The replica workerpool0-0 ran out of memory and exited with a "
                           "non-zero status of 137.")));
  CHECK_FALSE(lacks(failed(14, "The replica workerpool0-0 exited with a non-zero status of 1.")));
  CHECK_FALSE(lacks(failed(8, documented, "SUCCEEDED")));
  CHECK_FALSE(lacks(failed(8, documented, "CANCELLED")));
  CHECK_FALSE(lacks(failed(8, documented, "RUNNING")));
  CHECK_FALSE(lacks(json{{"state", "JOB_STATE_FAILED"}}));
  CHECK_FALSE(lacks(json{{"state", "JOB_STATE_FAILED"}, {"error", "x"}}));
  auto ran = failed(14, "");
  ran["startTime"] = "2026-01-02T03:04:05Z";
  CHECK_FALSE(lacks(ran));
  ran = failed(8, documented);
  ran["startTime"] = "2026-01-02T03:04:05Z";
  CHECK(lacks(ran));
}

}  // namespace autopack::submit_attempts_test
