#include "base/error.hpp"
#include "base/json.hpp"
#include "image/rebased.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::testing::image_rebased_test {

namespace {

using image::RebasedParts;
using nlohmann::json;

std::string layer(char digit) {
  return "sha256:" + std::string(64, digit);
}

json step(const std::string& created_by, bool is_ours = false, bool is_empty = false) {
  json made{{"created_by", created_by}};
  if (is_ours) {
    made["comment"] = "autopack";
  }
  if (is_empty) {
    made["empty_layer"] = true;
  }
  return made;
}

json document(const json& config, const std::vector<std::string>& layers, const json& history) {
  return {{"os", "linux"},
          {"architecture", "amd64"},
          {"config", config},
          {"rootfs", {{"type", "layers"}, {"diff_ids", layers}}},
          {"history", history}};
}

json old_base() {
  return document({{"Env", {"PATH=/bin", "LANG=C", "CUDA_VERSION=12.1"}},
                   {"Cmd", {"python3"}},
                   {"User", "worker"},
                   {"StopSignal", "SIGINT"},
                   {"Labels", {{"vendor", "v1"}, {"org.version", "1"}}}},
                  {layer('1')}, json::array({step("RUN apt-get update")}));
}

json new_base() {
  return document(
      {{"Env", {"PATH=/new:/bin", "LANG=C", "CUDA_VERSION=12.4", "MORE=1"}},
       {"Cmd", {"python3"}},
       {"Entrypoint", {"/start"}},
       {"User", "other"},
       {"Labels", {{"vendor", "v2"}, {"org.version", "2"}}}},
      {layer('2'), layer('3')},
      json::array({step("RUN apt-get upgrade"), step("ENV A", false, true), step("COPY x /x")}));
}

json made_image() {
  auto made = old_base();
  made["created"] = "1980-01-02T00:00:00Z";
  made["config"] = {{"Env", {"PATH=/bin", "LANG=de", "CUDA_VERSION=12.1", "HOME=/home"}},
                    {"Entrypoint", {"python3", "train.py"}},
                    {"WorkingDir", "/usr/app"},
                    {"User", "worker"},
                    {"StopSignal", "SIGINT"},
                    {"Labels",
                     {{"vendor", "v1"},
                      {"org.version", "mine"},
                      {"autopack.key", "k"},
                      {"autopack.wheels", "2"}}}};
  made["rootfs"]["diff_ids"].push_back(layer('a'));
  made["history"].push_back(step("autopack: code", true));
  made["history"].push_back(step("ENTRYPOINT python3 train.py", true, true));
  return made;
}

RebasedParts parts(const json& image) {
  return {.image = image.dump(), .before = old_base().dump(), .after = new_base().dump()};
}

json result_of(const json& image, const std::map<std::string, std::string>& labels = {}) {
  return parse_json(image::rebased_configuration(parts(image), labels));
}

}  // namespace

TEST_CASE("a rebased image has what it sets itself, and else the new base's settings") {
  const auto config = result_of(made_image())["config"];
  CHECK(config["Env"] ==
        json{"PATH=/new:/bin", "LANG=de", "CUDA_VERSION=12.4", "MORE=1", "HOME=/home"});
  CHECK(config["Entrypoint"] == json{"python3", "train.py"});
  CHECK_FALSE(config.contains("Cmd"));
  CHECK(config["WorkingDir"] == "/usr/app");
  CHECK(config["User"] == "other");
  CHECK_FALSE(config.contains("StopSignal"));
  CHECK(config["Labels"] == json{{"vendor", "v2"},
                                 {"org.version", "mine"},
                                 {"autopack.key", "k"},
                                 {"autopack.wheels", "2"}});
}

TEST_CASE("variables that autopack always sets stay, even if the old base had the same") {
  auto image = made_image();
  auto before = old_base();
  auto after = new_base();
  for (const auto* variable : {"HOME=/home", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"}) {
    before["config"]["Env"].push_back(variable);
  }
  image["config"]["Env"] = before["config"]["Env"];
  after["config"]["Env"] = {"HOME=/root", "PYTHONUNBUFFERED=0"};
  const auto result = parse_json(image::rebased_configuration(
      {.image = image.dump(), .before = before.dump(), .after = after.dump()}, {}));
  CHECK(result["config"]["Env"] ==
        json{"HOME=/home", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"});
}

TEST_CASE("a rebased image has layers and history of the new base, then its own") {
  const auto result = result_of(made_image());
  CHECK(result["rootfs"]["diff_ids"] == json{layer('2'), layer('3'), layer('a')});
  REQUIRE(result["history"].size() == 5);
  CHECK(result["history"][0]["created_by"] == "RUN apt-get upgrade");
  CHECK(result["history"][3]["created_by"] == "autopack: code");
  CHECK(result["created"] == "1980-01-02T00:00:00Z");
}

TEST_CASE("labels of a rebased image are set, and removed if their text is empty") {
  const auto labels =
      result_of(made_image(), {{"autopack.key", ""}, {"from", "x"}})["config"]["Labels"];
  CHECK_FALSE(labels.contains("autopack.key"));
  CHECK(labels["from"] == "x");
}

TEST_CASE("a user that the image sets itself stays") {
  auto image = made_image();
  image["config"]["User"] = "mine";
  CHECK(result_of(image)["config"]["User"] == "mine");
}

TEST_CASE("the own steps of an image are those above its base") {
  const auto steps = image::own_steps(parts(made_image()));
  REQUIRE(steps);
  REQUIRE(steps->size() == 2);
  CHECK(steps->at(0).created_by == "autopack: code");
  CHECK(steps->at(0).has_layer);
  CHECK(steps->at(0).is_ours);
  CHECK_FALSE(steps->at(1).has_layer);
}

TEST_CASE("an image that does not continue its base is refused") {
  auto other_history = made_image();
  other_history["history"][0]["created_by"] = "RUN something else";
  CHECK_FALSE(image::own_steps(parts(other_history)));
  CHECK_THROWS_AS(result_of(other_history), Error);
  auto other_layers = made_image();
  other_layers["rootfs"]["diff_ids"][0] = layer('9');
  CHECK_THROWS_AS(result_of(other_layers), Error);
}

TEST_CASE("a base without history, environment and labels can be exchanged") {
  const json bare{{"os", "linux"},
                  {"architecture", "amd64"},
                  {"rootfs", {{"type", "layers"}, {"diff_ids", {layer('1')}}}}};
  auto image = bare;
  image["rootfs"]["diff_ids"].push_back(layer('a'));
  image["config"] = {{"Entrypoint", {"sh"}}};
  image["history"] = json::array({step("autopack: code", true)});
  const auto result = parse_json(image::rebased_configuration(
      {.image = image.dump(), .before = bare.dump(), .after = bare.dump()}, {}));
  CHECK(result["rootfs"]["diff_ids"] == json{layer('1'), layer('a')});
  CHECK(result["config"]["Entrypoint"] == json{"sh"});
}

}  // namespace autopack::testing::image_rebased_test
