#include "local/faults.hpp"
#include "local/job_watcher.hpp"
#include "local/run.hpp"
#include "support/fake_docker.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace autopack::local_run_test {

using autopack::testing::FakeContainers;
using local::RestartPolicy;
using Next = local::RestartPolicy::Next;

namespace {

constexpr int forever = FakeContainers::until_signal;

class Notes final : public local::Watcher {
public:
  void wrote(const local::Replica& replica, bool is_error, std::string_view bytes) override {
    lines.push_back(replica.name + (is_error ? " ! " : " > ") + std::string{bytes});
  }

  void changed(const local::Replica& /*replica*/, const std::string& /*state*/) override {}

  void used(const local::Replica& /*replica*/, const local::Usage& /*usage*/) override {}

  void reported(const std::string& /*severity*/, const std::string& message) override {
    messages.push_back(message);
  }

  void running() override { ++begun; }

  void ending() override { ++ended; }

  std::vector<std::string> lines{};
  std::vector<std::string> messages{};
  int begun{0};
  int ended{0};
};

struct Fixture {
  explicit Fixture(const std::vector<std::size_t>& counts,
                   const std::optional<job::Scheduling>& scheduling = {})
      : run{.containers = &containers,
            .cluster = local::plan_cluster(counts, "7"),
            .restart_policy = RestartPolicy{scheduling},
            .cancellation = &cancellation,
            .is_asked_for_end = [this] { return asks_for_end; },
            .watcher = &notes} {
    run.specs.resize(run.cluster.replicas.size());
  }

  void ends(const std::string& replica, std::vector<int> statuses) {
    containers.ends["autopack-local-7-" + replica] = std::move(statuses);
  }

  std::size_t count(const std::string& call) const {
    return static_cast<std::size_t>(
        std::count(containers.calls.begin(), containers.calls.end(), call));
  }

  FakeContainers containers{};
  Cancellation cancellation{};
  Notes notes{};
  bool asks_for_end{false};
  local::ClusterRun run;
};

local::Replica replica(std::size_t rank) {
  return local::plan_cluster({1, 2}, "7").replicas.at(rank);
}

}  // namespace

TEST_CASE("a job ends with its primary, and nothing of it is left") {
  Fixture fixture{{1, 1, 1}};
  fixture.ends("workerpool0-0", {0});
  fixture.ends("workerpool1-0", {0});
  fixture.ends("workerpool2-0", {forever});
  const auto ending = local::run_cluster(fixture.run);
  CHECK(ending.state == "JOB_STATE_SUCCEEDED");
  CHECK(ending.status == 0);
  CHECK(fixture.notes.begun == 1);
  CHECK(fixture.notes.ended == 1);
  for (const auto* call :
       {"network autopack-local-7", "remove autopack-local-7-workerpool0-0",
        "remove autopack-local-7-workerpool1-0", "remove autopack-local-7-workerpool2-0"}) {
    CAPTURE(call);
    CHECK(fixture.count(call) == 1);
  }
  CHECK(fixture.containers.calls.back() == "remove network autopack-local-7");
}

TEST_CASE("a network whose answer was lost does not stay") {
  Fixture fixture{{1}};
  fixture.containers.loses_answers = true;
  CHECK_THROWS_AS(local::run_cluster(fixture.run), Error);
  CHECK(fixture.count("remove network autopack-local-7") == 1);
}

TEST_CASE("a network of another's making is neither made nor removed") {
  Fixture fixture{{1}};
  fixture.run.has_network = true;
  fixture.ends("workerpool0-0", {0});
  CHECK(local::run_cluster(fixture.run).state == "JOB_STATE_SUCCEEDED");
  CHECK(fixture.count("network autopack-local-7") == 0);
  CHECK(fixture.count("remove network autopack-local-7") == 0);
  CHECK(fixture.count("remove autopack-local-7-workerpool0-0") == 1);
}

TEST_CASE("a worker's own failure ends the job with its status") {
  Fixture fixture{{1, 2}};
  fixture.ends("workerpool0-0", {forever});
  fixture.ends("workerpool1-0", {forever});
  fixture.ends("workerpool1-1", {7});
  const auto ending = local::run_cluster(fixture.run);
  CHECK(ending.state == "JOB_STATE_FAILED");
  CHECK(ending.status == 7);
  CHECK(ending.message ==
        "The replica workerpool1-1 exited with a non-zero status of 7. Termination reason: Error.");
}

TEST_CASE("a worker that a signal ended is started again alone") {
  Fixture fixture{{1, 1}};
  fixture.ends("workerpool0-0", {forever});
  fixture.ends("workerpool1-0", {137, 3});
  const auto ending = local::run_cluster(fixture.run);
  CHECK(ending.status == 3);
  CHECK(fixture.count("run autopack-local-7-workerpool1-0") == 2);
  CHECK(fixture.count("run autopack-local-7-workerpool0-0") == 1);
  CHECK(fixture.notes.messages.size() == 1);
}

TEST_CASE("with restartJobOnWorkerRestart every replica is started again") {
  Fixture fixture{{1, 1}, job::Scheduling{.restart_on_worker_restart = true}};
  fixture.ends("workerpool0-0", {forever, 0});
  fixture.ends("workerpool1-0", {139, forever});
  const auto ending = local::run_cluster(fixture.run);
  CHECK(ending.state == "JOB_STATE_SUCCEEDED");
  CHECK(fixture.count("run autopack-local-7-workerpool0-0") == 2);
  CHECK(fixture.count("run autopack-local-7-workerpool1-0") == 2);
}

TEST_CASE("a job does not outlive its timeout, its user's wish or an interruption") {
  SUBCASE("timeout") {
    Fixture fixture{{1}, job::Scheduling{.timeout = "0.2s"}};
    fixture.ends("workerpool0-0", {forever});
    const auto ending = local::run_cluster(fixture.run);
    CHECK(ending.state == "JOB_STATE_FAILED");
    CHECK(ending.code == 4);
    CHECK(ending.message == "The job did not end within its timeout of 0.2 s.");
  }
  SUBCASE("the user's wish") {
    Fixture fixture{{1, 1}};
    fixture.asks_for_end = true;
    fixture.containers.usual_status = forever;
    std::vector<std::chrono::seconds> graces;
    fixture.run.cancelling = [&](std::chrono::seconds grace) { graces.push_back(grace); };
    const auto ending = local::run_cluster(fixture.run);
    CHECK(graces == std::vector{std::chrono::seconds{5}});
    CHECK(ending.state == "JOB_STATE_CANCELLED");
    CHECK(fixture.count("remove autopack-local-7-workerpool1-0") == 1);
  }
  SUBCASE("an interruption, and another one") {
    Fixture fixture{{1}};
    fixture.containers.usual_status = FakeContainers::until_killed;
    fixture.run.cancelling = [&](std::chrono::seconds /*grace*/) {
      CHECK(fixture.cancellation.accepts_repeat);
      fixture.cancellation.repeated = true;
    };
    fixture.asks_for_end = true;
    CHECK(local::run_cluster(fixture.run).state == "JOB_STATE_CANCELLED");
    CHECK(fixture.count("remove autopack-local-7-workerpool0-0") == 1);
  }
  SUBCASE("an interruption before it began") {
    Fixture fixture{{1, 1}};
    fixture.cancellation.requested = true;
    CHECK_THROWS_AS(local::run_cluster(fixture.run), Interrupted);
    CHECK(fixture.containers.calls.back() == "remove network autopack-local-7");
  }
}

TEST_CASE("faults on purpose come when they are due") {
  Fixture fixture{{1, 1}};
  fixture.ends("workerpool0-0", {forever});
  fixture.ends("workerpool1-0", {forever, 5});
  fixture.run.faults = {{.replica = "workerpool0-0", .kind = local::Fault::Kind::cut},
                        {.replica = "workerpool1-0"}};
  const auto ending = local::run_cluster(fixture.run);
  CHECK(ending.status == 5);
  CHECK(fixture.count("disconnect autopack-local-7-workerpool0-0 from autopack-local-7") == 1);
  CHECK(fixture.notes.messages.front() == "`--fail`: workerpool0-0 loses its network.");
}

TEST_CASE("a replica is started again five times, then the job three times") {
  RestartPolicy policy{std::nullopt};
  for (int job = 0; job <= 3; ++job) {
    for (int i = 0; i < 5; ++i) {
      CHECK(policy.after(replica(1), {.status = 134}) == Next::restart_replica);
    }
    CHECK(policy.after(replica(1), {.status = 134}) == (job < 3 ? Next::restart_job : Next::fail));
  }
}

TEST_CASE("consequences of a replica's end") {
  struct Case {
    job::Scheduling scheduling;
    std::size_t rank;
    local::Exit exit;
    Next next;
  };

  const job::Scheduling whole{.restart_on_worker_restart = true};
  const job::Scheduling never{.restart_on_worker_restart = true, .disable_retries = true};
  for (const auto& item : std::vector<Case>{
           {{}, 0, {.status = 0}, Next::succeed},
           {{}, 2, {.status = 0}, Next::go_on},
           {{}, 0, {.status = 1}, Next::fail},
           {{}, 2, {.status = 2}, Next::fail},
           {{}, 2, {.status = 139}, Next::restart_replica},
           {{}, 0, {.status = 137}, Next::restart_replica},
           {{}, 0, {.status = 137, .ran_out_of_memory = true}, Next::fail},
           {whole, 2, {.status = 143}, Next::restart_job},
           {never, 2, {.status = 143}, Next::fail},
       }) {
    CAPTURE(item.exit.status);
    RestartPolicy policy{item.scheduling};
    CHECK(policy.after(replica(item.rank), item.exit) == item.next);
  }
  CHECK(RestartPolicy{std::nullopt}.timeout() == std::chrono::hours{7 * 24});
  CHECK(RestartPolicy{job::Scheduling{.timeout = "7200s"}}.timeout() == std::chrono::hours{2});
}

TEST_CASE("faults and sizes as people write them") {
  const auto fault = local::read_fault("network:workerpool1-0@1.5s");
  REQUIRE(fault);
  CHECK(fault->replica == "workerpool1-0");
  CHECK(fault->after == std::chrono::milliseconds{1500});
  CHECK(fault->kind == local::Fault::Kind::cut);
  CHECK(local::read_fault("workerpool0-0@2m")->after == std::chrono::minutes{2});
  for (const auto* text : {"", "@5s", "workerpool1-0", "workerpool1-0@", "w@5x", "w@-1s", "w@1e99s",
                           "w@nan", "network:@5s"}) {
    CAPTURE(text);
    CHECK_FALSE(local::read_fault(text));
  }
  CHECK(local::read_size("1.5k") == 1536);
  CHECK(local::read_size("2GiB") == 2'147'483'648);
  for (const auto* text : {"", "g", "-1", "0", "1t", "1 g", "inf", "1e40"}) {
    CAPTURE(text);
    CHECK_FALSE(local::read_size(text));
  }
}

TEST_CASE("lines come whole, however the output is cut") {
  std::vector<std::string> lines;
  local::LineBuffer buffer{[&](std::string_view line) { lines.emplace_back(line); }};
  buffer.feed("on");
  buffer.feed("e\n\ntw");
  buffer.feed("o");
  buffer.finish();
  CHECK(lines == std::vector<std::string>{"one", "", "two"});
  lines.clear();
  buffer.feed(std::string(150'000, 'x') + "\n");
  CHECK(lines.size() == 3);
}

}  // namespace autopack::local_run_test
