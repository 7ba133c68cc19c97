#include "base/json.hpp"
#include "local/metrics.hpp"
#include "local/run.hpp"
#include "local/study.hpp"
#include "support/fake_docker.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace autopack::local_stopping_test {

using local::Curve;
using local::StoppingRule;

namespace {

/// `losses` of the steps 1, 2, ...
Curve curve(const std::vector<double>& losses) {
  Curve points;
  for (const double loss : losses) {
    points.push_back({.at = static_cast<double>(points.size() + 1), .loss = loss});
  }
  return points;
}

job::Job tuning(const std::string& algorithm) {
  job::Study study;
  study.metrics = std::vector<job::Metric>{job::Metric{.id = "loss", .goal = "MINIMIZE"}};
  study.parameters = std::vector<job::Parameter>{
      job::Parameter{.id = "n", .whole = job::WholeRange{.least = 1, .most = 3}}};
  if (algorithm != "GRID_SEARCH") {
    study.parameters->push_back({.id = "x", .real = job::RealRange{.least = 0, .most = 1}});
  }
  study.algorithm = algorithm;
  return {.study = study, .kind = job::JobKind::tuning_job};
}

local::Trial ended(const local::TrialValues& values, double loss) {
  return {.id = "1",
          .values = values,
          .state = "SUCCEEDED",
          .last = local::Measurement{.metrics = {{"loss", loss}}},
          .started = "2026-11-23T10:00:00Z",
          .ended = "2026-11-23T10:00:01Z"};
}

}  // namespace

TEST_CASE("a trial without hope is stopped by the study's rule") {
  using Kind = StoppingRule::Kind;

  struct Case {
    const char* name;
    StoppingRule rule;
    std::vector<double> running;
    std::vector<std::vector<double>> ended;
    bool stops;
  };

  const std::vector<std::vector<double>> three{{5, 3, 1}, {6, 4, 2}, {7, 5, 3}};
  const std::vector<std::vector<double>> six(6, {6, 5, 4, 3, 2, 1});
  const StoppingRule median{};
  const StoppingRule decay{.kind = Kind::decay_curve};
  const StoppingRule convex{.kind = Kind::convex};
  for (const auto& item : std::vector<Case>{
           // The others' averages until step 2: 4, 5 and 6.
           {"above the median", median, {8, 5.1}, three, true},
           {"as good as the median", median, {8, 5}, three, false},
           {"the best so far counts", median, {4.9, 9}, three, false},
           {"further than the others", median, {9, 9, 9, 9}, three, true},
           {"two have ended", median, {9, 9}, {{1, 1}, {1, 1}}, false},
           {"nothing reported", median, {}, three, false},
           // Each of the others still gained 2 after step 2.
           {"cannot reach the best", decay, {6, 4}, three, true},
           {"can reach the best", decay, {6, 2.9}, three, false},
           {"the others differ",
            decay,
            {6, 4},
            {{5, 5, 1}, {6, 6, 5.5}, {7, 7, 2}, {7, 7, 6}},
            false},
           {"nobody went further", decay, {9, 9, 9}, three, false},
           {"its line ends above", convex, {9, 8.9, 8.8, 8.7, 8.6}, six, true},
           {"its line ends below", convex, {9, 8, 7, 4, 1.5}, six, false},
           {"flat", convex, {9, 9, 9, 9, 9}, six, false},
           {"too few reports", convex, {9, 8.9, 8.8, 8.7}, six, false},
           {"too few have ended", convex, {9, 8.9, 8.8, 8.7, 8.6}, three, false},
       }) {
    CAPTURE(item.name);
    std::vector<Curve> others;
    for (const auto& losses : item.ended) {
      others.push_back(curve(losses));
    }
    CHECK(local::is_hopeless(item.rule, curve(item.running), others) == item.stops);
  }
}

TEST_CASE("stopping rules are read as the API has them") {
  CHECK_FALSE(local::stopping_rule(job::Study{}));
  job::Study study;
  study.convex_stopping = job::Bag{parse_json(
      R"({"maxStepCount": "40", "minMeasurementCount": 2, "useElapsedDuration": true})")};
  const auto rule = local::stopping_rule(study);
  REQUIRE(rule);
  CHECK(rule->kind == StoppingRule::Kind::convex);
  CHECK(rule->by_time);
  CHECK(rule->most_steps == 40);
  CHECK(rule->least_measurements == 2);
  CHECK_FALSE(rule->least_steps);
}

TEST_CASE("of what a trial reports on its way each is kept once, and of very many a part") {
  std::vector<local::Measurement> known;
  local::add_later(known, {{.step = 1}, {.step = 2}});
  local::add_later(known, {{.step = 1}, {.step = 2}, {.step = 3}});
  CHECK(known.size() == 3);
  std::vector<local::Measurement> many;
  for (int i = 4; i < 5000; ++i) {
    many.push_back({.step = i, .metrics = {{"loss", i}}});
  }
  local::add_later(known, many);
  CHECK(known.size() <= 200);
  CHECK(known.front().step == 1);
  CHECK(known.back().step == 4999);
  CHECK(known.back().metrics.at("loss") == 4999);
}

TEST_CASE("a trial is kept whole") {
  local::Trial trial{.id = "7",
                     .values = {{.id = "n", .text = "12"},
                                {.id = "x", .text = "0.1"},
                                {.id = "k", .text = "a", .is_number = false}},
                     .state = "STOPPING",
                     .measured = {{.step = 2, .elapsed = 1.5, .metrics = {{"loss", 0.25}}}},
                     .last = local::Measurement{.step = 3, .metrics = {{"loss", 0.5}}},
                     .started = "2026-11-23T10:00:00Z"};
  const auto read = local::read_trial(local::resource_of(trial));
  REQUIRE(read);
  CHECK(read->values == trial.values);
  CHECK(local::resource_of(*read) == local::resource_of(trial));
  CHECK_FALSE(read->has_ended());
  CHECK_FALSE(read->reason);
  trial.ended = "2026-11-23T10:00:01Z";
  CHECK(local::read_trial(local::resource_of(trial))->has_ended());
  for (const auto* text :
       {"[]", "7", R"({"parameters": [7]})", R"({"parameters": [{"value": []}]})"}) {
    CAPTURE(text);
    CHECK_FALSE(local::read_trial(parse_json(text)));
  }
  CHECK(local::read_trial(parse_json(R"({"finalMeasurement": 7, "measurements": [7, {}]})")));
  CHECK_FALSE(local::read_trial(parse_json(R"({"endTime": ""})"))->has_ended());
}

TEST_CASE("a study that goes on tries what it has not tried") {
  const auto job = tuning("GRID_SEARCH");
  local::Suggestions first{job, {}, 9};
  CHECK(first.most_trials() == 3);
  std::vector<local::Trial> trials{ended(first.next({}), 1)};
  local::Suggestions second{job, trials, 9};
  CHECK(second.most_trials() == 3);
  CHECK(second.next(trials).front().text == "2");
}

TEST_CASE("the same study has the same trials, also when it goes on") {
  for (const auto* algorithm : {"RANDOM_SEARCH", "ALGORITHM_UNSPECIFIED"}) {
    CAPTURE(algorithm);
    const auto job = tuning(algorithm);
    local::Suggestions whole{job, {}, 8};
    std::vector<local::Trial> trials;
    for (std::size_t i = 0; i < 8; ++i) {
      trials.push_back(ended(whole.next(trials), static_cast<double>(i)));
    }
    const std::vector<local::Trial> broken{trials.begin(), trials.begin() + 7};
    local::Suggestions again{job, broken, 8};
    CHECK(again.next(broken) == trials.back().values);
    CHECK(trials[0].values != trials[1].values);
  }
}

TEST_CASE("the resource usage of replicas is reported while they run") {
  testing::FakeContainers containers;
  const auto replicas = local::plan_cluster({1, 1}, "7").replicas;
  containers.specs[replicas[0].container] = {};  // the other does not exist
  std::atomic<int> told{0};
  std::atomic<bool> is_right{true};
  {
    const local::UsageWatch watch{containers, replicas, std::chrono::milliseconds{5},
                                  [&](const local::Replica& replica, const local::Usage& usage) {
                                    is_right = is_right && replica.rank == 0 &&
                                               usage.memory == 3U << 20U && usage.processors > 0;
                                    ++told;
                                  }};
    while (told < 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
  }
  const int before = told;
  CHECK(is_right);
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  CHECK(told == before);
}

}  // namespace autopack::local_stopping_test
