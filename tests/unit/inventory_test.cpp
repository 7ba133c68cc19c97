#include "inventory/cleaning.hpp"
#include "support/fake_docker.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <memory>

namespace autopack::testing::inventory_test {

namespace {

using inventory::Leftover;

const std::string key(64, 'a');
const std::string other_key(64, 'b');

engine::ListedImage listed(const std::string& id,
                           const std::vector<std::string>& names,
                           const std::string& image_key) {
  engine::ListedImage image{
      .id = id, .names = names, .labels = {{"autopack.dependency-key", key}}, .size = 10};
  if (!image_key.empty()) {
    image.labels["autopack.key"] = image_key;
  }
  return image;
}

/// A machine with an engine and a cache.
struct Machine {
  std::vector<std::string> leftovers(const inventory::CleaningScope& scope) {
    std::vector<std::string> names;
    for (const auto& one : inventory::find_leftovers(services, scope)) {
      if (one.kind != Leftover::Kind::cache) {
        names.push_back(one.name);
      }
    }
    return names;
  }

  void write(const std::string& path) const {
    const auto file = directory.path() / "autopack" / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream{file} << "12345";
  }

  TemporaryDirectory directory{};
  FakeDocker docker{};
  RecordingReporter reporter{};
  Cancellation cancellation{};
  Environment environment{{{"XDG_CACHE_HOME", directory.path().string()}}};
  Services services{environment, reporter, &cancellation, ServiceMakers{.docker = [this] {
                      return std::shared_ptr<engine::Docker>{&docker, [](engine::Docker*) {}};
                    }}};
};

}  // namespace

TEST_CASE("cleaning takes autopack's own names, and of a project that project's alone") {
  Machine machine;
  const std::string tag = "ap-" + key.substr(0, 16);
  machine.docker.listed = {
      listed("sha256:1", {"autopack/p:" + tag, "autopack/p:mine", "autopack/p:run"}, key),
      listed("sha256:2", {"autopack/p:apd-" + key.substr(0, 16)}, ""),
      listed("sha256:3", {"autopack/q:ap-" + other_key.substr(0, 16)}, other_key),
      listed("sha256:4", {}, other_key)};
  machine.docker.left = {"autopack-0"};
  using Names = std::vector<std::string>;
  CHECK(machine.leftovers({.repositories = {"autopack/p"}}) ==
        Names{"autopack-0", "autopack/p:" + tag, "autopack/p:apd-" + key.substr(0, 16),
              "autopack/p:run"});
  CHECK(machine.leftovers({.repositories = {"autopack/p"}, .kept_keys = {key.substr(0, 16)}}) ==
        Names{"autopack-0"});
  CHECK(machine.leftovers({}).size() == 6);
  CHECK(machine.leftovers({.looks_into_engine = false}).empty());
}

TEST_CASE("parts of the cache are measured and removed, and other files stay") {
  const Machine machine;
  machine.write("wheels/a/one.whl");
  machine.write("wheels/two.whl");
  machine.write("submissions/s");
  machine.write("somebody's");
  const auto parts = inventory::all_parts(machine.environment);
  REQUIRE(parts.size() == 1);
  CHECK(parts[0].name == "wheels");
  CHECK(parts[0].size == 10);
  CHECK(parts[0].files == 2);
  inventory::remove(parts[0]);
  CHECK(inventory::all_parts(machine.environment).empty());
  CHECK(std::filesystem::exists(machine.directory.path() / "autopack" / "submissions" / "s"));
  CHECK(std::filesystem::exists(machine.directory.path() / "autopack" / "somebody's"));
}

}  // namespace autopack::testing::inventory_test
