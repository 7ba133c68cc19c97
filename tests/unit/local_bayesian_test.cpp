#include "local/bayesian_search.hpp"
#include "local/search.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <numbers>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace autopack::local_bayesian_test {

using local::KnownTrial;
using local::TrialValues;

namespace {

using Parameters = std::vector<job::Parameter>;
using Loss = std::function<double(const TrialValues&)>;

job::Parameter real(const std::string& id, double least, double most) {
  return {.id = id, .real = job::RealRange{.least = least, .most = most}};
}

job::Parameter whole(const std::string& id, std::int64_t least, std::int64_t most) {
  return {.id = id, .whole = job::WholeRange{.least = least, .most = most}};
}

/// Returns `optimizer`, and `momentum` if it is `sgd`.
job::Parameter conditional() {
  job::Parameter parent{
      .id = "optimizer",
      .categories = job::Categories{.values = std::vector<std::string>{"adam", "sgd", "rmsprop"}}};
  job::ConditionalParameter child;
  child.parent_categories = job::ParentValues<std::string>{.values = {"sgd"}};
  child.parameter = std::make_shared<const job::Parameter>(real("momentum", 0, 1));
  parent.children = {child};
  return parent;
}

std::string text_of(const TrialValues& values, const std::string& id) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.id == id; });
  return found == values.end() ? "" : found->text;
}

double number_of(const TrialValues& values, const std::string& id) {
  return std::strtod(text_of(values, id).c_str(), nullptr);
}

Parameters training() {
  auto rate = real("rate", 1e-5, 1);
  rate.scale = "UNIT_LOG_SCALE";
  return {rate, whole("layers", 1, 12), conditional()};
}

/// 0 at a rate of 10^-2.5, 6 layers and `sgd` with a momentum of 0.9.
double training_loss(const TrialValues& values) {
  const auto optimizer = text_of(values, "optimizer");
  const double momentum = number_of(values, "momentum") - 0.9;
  const double layers = number_of(values, "layers") - 6;
  return std::pow(std::log10(number_of(values, "rate")) + 2.5, 2) + 0.05 * layers * layers +
         (optimizer == "sgd" ? 4 * momentum * momentum : (optimizer == "adam" ? 0.5 : 2));
}

/// Branin's function: three minima of 0.398.
double branin(const TrialValues& values) {
  const double pi = std::numbers::pi;
  const double x = number_of(values, "x");
  const double y = number_of(values, "y");
  return std::pow(y - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6, 2) +
         10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10;
}

/// Returns the measurements of `trials` trials of a study.
std::vector<KnownTrial> study(const Parameters& parameters,
                              const Loss& loss,
                              int trials,
                              std::uint64_t seed,
                              bool is_random) {
  std::vector<KnownTrial> known;
  std::mt19937_64 random{seed};
  for (int i = 0; i < trials; ++i) {
    const auto values = is_random ? local::draw(parameters, random)
                                  : local::promising_trial(parameters, known, random);
    known.push_back(
        {.values = values, .outcome = KnownTrial::Outcome::measured, .loss = loss(values)});
  }
  return known;
}

double best_of(const std::vector<KnownTrial>& known) {
  double best = std::numeric_limits<double>::max();
  for (const auto& trial : known) {
    best = std::min(best, trial.loss);
  }
  return best;
}

/// Returns the median of five studies' best results.
double usual_best(const Parameters& parameters, const Loss& loss, int trials, bool is_random) {
  std::vector<double> all;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    all.push_back(best_of(study(parameters, loss, trials, seed, is_random)));
  }
  std::sort(all.begin(), all.end());
  return all[2];
}

}  // namespace

TEST_CASE("a process goes through what was measured, and is unsure away from it") {
  const local::GaussianProcess process{{{0.0}, {0.2}, {0.5}, {0.6}}, {1.2, 0.7, -0.9, -1.0}};
  CHECK(process.at({0.2}).mean == doctest::Approx(0.7).epsilon(0.05));
  CHECK(process.at({0.35}).mean < 0.7);
  CHECK(process.at({0.35}).mean > -0.9);
  CHECK(process.at({1.0}).deviation > 5 * process.at({0.2}).deviation);
  // Measuring the same point twice is allowed.
  CHECK(std::isfinite(local::GaussianProcess({{0.5}, {0.5}}, {-1, 1}).at({0.5}).mean));
}

TEST_CASE("a Bayesian search finds in 25 trials what a random one does not find in 100") {
  struct Case {
    const char* name;
    Parameters parameters;
    Loss loss;
    double near;
  };

  for (const auto& item :
       std::vector<Case>{{"branin", {real("x", -5, 10), real("y", 0, 15)}, branin, 0.45},
                         {"training", training(), training_loss, 0.05}}) {
    CAPTURE(item.name);
    const double found = usual_best(item.parameters, item.loss, 25, false);
    CHECK(found < usual_best(item.parameters, item.loss, 100, true));
    CHECK(found < item.near);
  }
}

TEST_CASE("a Bayesian search finds the same trials again, and each only once") {
  const Parameters parameters{whole("n", 1, 4), conditional()};
  const auto loss = [](const TrialValues& values) { return number_of(values, "n"); };
  const auto first = study(parameters, loss, 12, 3, false);
  const auto second = study(parameters, loss, 12, 3, false);
  for (std::size_t i = 0; i < first.size(); ++i) {
    CHECK(first[i].values == second[i].values);
    CHECK((text_of(first[i].values, "momentum").empty()) ==
          (text_of(first[i].values, "optimizer") != "sgd"));
  }
  // The first five are random, and may repeat; once all values are known, any may repeat.
  std::set<std::string> seen;
  for (const auto& trial : study({whole("n", 1, 6)}, loss, 13, 1, false)) {
    seen.insert(trial.values.front().text);
  }
  CHECK(seen.size() == 6);
}

TEST_CASE("trials that run at once go to different places") {
  const Parameters parameters{real("x", 0, 1)};
  const auto loss = [](const TrialValues& values) {
    return std::pow(number_of(values, "x") - 0.3, 2);
  };
  auto known = study(parameters, loss, 5, 2, false);
  std::mt19937_64 random{4};
  const auto first = local::promising_trial(parameters, known, random);
  known.push_back({.values = first});
  const auto second = local::promising_trial(parameters, known, random);
  CHECK(std::abs(number_of(first, "x") - number_of(second, "x")) > 0.01);
}

TEST_CASE("trials that failed are avoided") {
  const Parameters parameters{real("x", 0, 1)};
  std::vector<KnownTrial> known;
  std::mt19937_64 random{4};
  for (int i = 0; i < 20; ++i) {
    const auto values = local::promising_trial(parameters, known, random);
    const double x = number_of(values, "x");
    known.push_back(
        {.values = values,
         .outcome = x > 0.5 ? KnownTrial::Outcome::failed : KnownTrial::Outcome::measured,
         .loss = std::pow(x - 0.4, 2)});
  }
  const auto failed = std::count_if(known.begin() + 5, known.end(), [](const KnownTrial& trial) {
    return trial.outcome == KnownTrial::Outcome::failed;
  });
  CHECK(failed < 5);
  CHECK(best_of(known) < 1e-3);
}

TEST_CASE("any measured values and any ranges give a trial") {
  constexpr double huge = std::numeric_limits<double>::max();
  const Parameters parameters{real("x", -huge, huge), whole("n", INT64_MIN, INT64_MAX),
                              real("one", 3, 3), whole("empty", 2, 1)};
  for (const auto& losses : std::vector<std::vector<double>>{
           {1, 1, 1, 1, 1, 1}, {huge, -huge, huge, 0, 1, 2}, {0, 0, 0, 0, 0, huge}}) {
    std::vector<KnownTrial> known;
    std::mt19937_64 random{9};
    for (const double loss : losses) {
      known.push_back({.values = local::draw(parameters, random),
                       .outcome = KnownTrial::Outcome::measured,
                       .loss = loss});
    }
    const auto found = local::promising_trial(parameters, known, random);
    REQUIRE(found.size() == 4);
    CHECK(std::isfinite(number_of(found, "x")));
    CHECK(text_of(found, "one") == "3");
    CHECK(text_of(found, "empty") == "2");
  }
  std::mt19937_64 random{9};
  CHECK(local::promising_trial({}, {}, random).empty());
  const std::vector<KnownTrial> failed(
      9, {.values = local::draw(parameters, random), .outcome = KnownTrial::Outcome::failed});
  CHECK(local::promising_trial(parameters, failed, random).size() == 4);
}

}  // namespace autopack::local_bayesian_test
