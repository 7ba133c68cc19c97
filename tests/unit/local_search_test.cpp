#include "local/metrics.hpp"
#include "local/search.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace autopack::local_search_test {

namespace {

job::Parameter whole(const std::string& id, std::int64_t least, std::int64_t most) {
  return {.id = id, .whole = job::WholeRange{.least = least, .most = most}};
}

job::Parameter words(const std::string& id, const std::vector<std::string>& values) {
  return {.id = id, .categories = job::Categories{.values = values}};
}

/// Returns `optimizer`, and `momentum` if it is `sgd`.
job::Parameter conditional() {
  auto parent = words("optimizer", {"sgd", "adam"});
  job::ConditionalParameter child;
  child.parent_categories = job::ParentValues<std::string>{.values = {"sgd"}};
  child.parameter = std::make_shared<const job::Parameter>(job::Parameter{
      .id = "momentum", .discrete = job::DiscreteValues{.values = std::vector<double>{0.5, 0.9}}});
  parent.children = {child};
  return parent;
}

std::string text(const local::TrialValues& values) {
  std::string all;
  for (const auto& value : values) {
    all += value.id + "=" + value.text + " ";
  }
  return all;
}

std::vector<std::string> grid(const std::vector<job::Parameter>& parameters, std::size_t most) {
  std::vector<std::string> all;
  for (const auto& values : local::grid(parameters, most)) {
    all.push_back(text(values));
  }
  return all;
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("a grid has every combination once, and no more than are wanted") {
  CHECK(grid({whole("n", 1, 2), words("k", {"a", "b"})}, 9) ==
        Strings{"n=1 k=a ", "n=1 k=b ", "n=2 k=a ", "n=2 k=b "});
  CHECK(grid({whole("n", 1, 2), words("k", {"a", "b"})}, 3).size() == 3);
  CHECK(grid({whole("n", 1, INT64_MAX)}, 2) == Strings{"n=1 ", "n=2 "});
  CHECK(grid({whole("n", INT64_MAX, INT64_MAX)}, 2).size() == 1);
  CHECK(grid({conditional(), whole("n", 7, 7)}, 9) == Strings{"optimizer=sgd momentum=0.5 n=7 ",
                                                              "optimizer=sgd momentum=0.9 n=7 ",
                                                              "optimizer=adam n=7 "});
}

TEST_CASE("drawn values stay in their ranges, along their scales") {
  std::mt19937_64 random{7};
  const job::Parameter rate{
      .id = "rate", .real = job::RealRange{.least = 1e-4, .most = 1.0}, .scale = "UNIT_LOG_SCALE"};
  int below_middle = 0;
  std::set<std::string> shapes;
  for (int i = 0; i < 400; ++i) {
    const auto values = local::draw({rate, whole("n", -2, 2), conditional()}, random);
    const double drawn = std::strtod(values[0].text.c_str(), nullptr);
    CHECK(drawn >= 1e-4);
    CHECK(drawn <= 1.0);
    below_middle += drawn < 1e-2 ? 1 : 0;
    CHECK(std::abs(std::atoi(values[1].text.c_str())) <= 2);
    shapes.insert(values[2].text + std::to_string(values.size()));
  }
  CHECK(below_middle > 140);
  CHECK(below_middle < 260);
  CHECK(shapes == std::set<std::string>{"adam3", "sgd4"});
}

TEST_CASE("reports are read as cloudml-hypertune writes them") {
  const auto all = local::read_metrics(
      R"({"global_step": "1", "loss": "0.5", "timestamp": 1.5, "trial": "0"}
not a report
{"global_step": "2", "loss": 0.25, "other": "1"}
{"loss": "nan"}
{"loss": {"a": 1}}
{"global_step": "3", "loss": "0.75"}
)",
      {"loss"});
  REQUIRE(all.size() == 3);
  CHECK(all[0].step == 1);
  CHECK(all[1].metrics == std::map<std::string, double>{{"loss", 0.25}});
  const local::Goals goals{.ids = {"loss"}, .maximizes = {{"loss", false}}};
  const auto last = local::final_measurement(all, goals);
  CHECK(last->metrics.at("loss") == 0.75);
  CHECK(last->step == 3);
  CHECK(goals.loss_of(*last) == 0.75);
  auto best = goals;
  best.takes_best = true;
  CHECK(local::final_measurement(all, best)->metrics.at("loss") == 0.25);
  best.maximizes["loss"] = true;
  CHECK(local::final_measurement(all, best)->metrics.at("loss") == 0.75);
  CHECK(best.loss_of(*last) == -0.75);
  CHECK_FALSE(local::final_measurement(all, {.ids = {"loss", "gone"}}));
  CHECK_FALSE(local::final_measurement({}, goals));
}

}  // namespace autopack::local_search_test
