#include "base/json.hpp"
#include "engine/held_image.hpp"

#include <doctest/doctest.h>

namespace autopack::engine_held_image_test {

using autopack::engine::history_of;
using nlohmann::json;

namespace {

json step(const char* created_by, int size) {
  return {{"Created", 1'700'000'000}, {"CreatedBy", created_by}, {"Size", size}, {"Comment", ""}};
}

/// Returns `layer` or `empty` for each step, oldest first.
std::vector<std::string> kinds(const json& history) {
  std::vector<std::string> result;
  for (const auto& item : history) {
    result.emplace_back(item.contains("empty_layer") ? "empty" : "layer");
  }
  return result;
}

using Kinds = std::vector<std::string>;

}  // namespace

TEST_CASE("an engine's history becomes that of a configuration") {
  const auto history = history_of(
      {step("ENV A=1", 0), step("RUN pip install x", 900), step("ADD rootfs /", 5000)}, 2);
  REQUIRE(history.size() == 3);
  CHECK(history[0]["created_by"] == "ADD rootfs /");
  CHECK(history[1]["created"] == "2023-11-14T22:13:20Z");
  CHECK(kinds(history) == Kinds{"layer", "layer", "empty"});
}

TEST_CASE("a step with an empty layer is recognised by its instruction") {
  const json steps{step("ENTRYPOINT [\"python3\"]", 0), step("WORKDIR /usr/app", 0),
                   step("ENV HOME=/home", 0), step("RUN mkdir -p /usr/app", 0), step("", 235)};
  CHECK(kinds(history_of(steps, 3)) == Kinds{"layer", "layer", "empty", "layer", "empty"});
  CHECK(kinds(history_of(steps, 2)) == Kinds{"layer", "layer", "empty", "empty", "empty"});
  CHECK(kinds(history_of(steps, 1)) == Kinds{"layer", "empty", "empty", "empty", "empty"});
}

TEST_CASE("an engine without a history leaves it empty") {
  CHECK(history_of(json{}, 2) == json::array());
}

}  // namespace autopack::engine_held_image_test
