#include "base/error.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "build/direct/direct_builder.hpp"
#include "build/direct/recipes.hpp"
#include "image/tar.hpp"
#include "plan/layers.hpp"
#include "plan_fixture.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <numeric>

namespace autopack::build_direct_test {

using nlohmann::json;

namespace {

std::vector<std::string> names(const std::vector<plan::PlannedLayer>& layers) {
  std::vector<std::string> result;
  for (const auto& layer : layers) {
    result.push_back(layer.name);
  }
  return result;
}

std::vector<std::string> paths(const plan::PlannedLayer& layer) {
  std::vector<std::string> result;
  for (const auto& entry : layer.entries) {
    result.emplace_back(entry.path);
  }
  return result;
}

plan::Fixture code_only() {
  plan::Fixture fixture;
  fixture.tree = source::MemoryTree{
      {"trainer/task.py", "print(1)\n"}, {"trainer/__init__.py", ""}, {"shared/x.py", "x = 1\n"}};
  fixture.project.requirement_files.clear();
  fixture.project.requirement_inputs.clear();
  fixture.project.requirements.clear();
  fixture.project.normalised_requirements.clear();
  fixture.project.package.reset();
  return fixture;
}

std::string tar_of(const build::LayerRecipe& recipe) {
  std::string compressed;
  const auto facts = recipe.write([&](std::string_view bytes) { compressed += bytes; }, {});
  CHECK(facts.digest == sha256(compressed));
  const auto tar = run_process({"gzip", "-dc"}, compressed);
  REQUIRE(tar);
  REQUIRE(tar->status == 0);
  return tar->output;
}

build::Parent parent() {
  return {
      .manifest = {.media_type = std::string{image::media_type::docker_manifest},
                   .config = {.digest = sha256("parent configuration")},
                   .layers = {{.digest = sha256("parent layer"), .size = 5}}},
      .configuration = image::Configuration::parse(
          R"({"os":"linux","architecture":"amd64","config":{"Cmd":["bash"],"Env":["PATH=/bin"]},"rootfs":{"type":"layers","diff_ids":[]},"history":[]})",
          "the parent")};
}

}  // namespace

TEST_CASE("a small project is one layer of code") {
  const auto plan = code_only().plan();
  const auto layers = plan::code_layers(plan);
  CHECK(names(layers) == std::vector<std::string>{"code"});
  CHECK(paths(layers.at(0)) == std::vector<std::string>{"usr", "usr/app", "usr/app/shared",
                                                        "usr/app/shared/x.py", "usr/app/trainer",
                                                        "usr/app/trainer/__init__.py",
                                                        "usr/app/trainer/task.py"});
}

TEST_CASE("large files and data do not travel with the code") {
  auto fixture = code_only();
  fixture.tree.file("trainer/weights.bin", std::string(1'000'000, 'w'));
  fixture.tree.file("trainer/table.csv", "1,2\n");
  fixture.tree.file("trainer/words.txt", std::string(64'001, 'w'));
  const auto plan = fixture.plan();
  const auto layers = plan::code_layers(plan);
  CHECK(names(layers) == std::vector<std::string>{"large files", "data", "code"});
  CHECK(paths(layers.at(0)) == std::vector<std::string>{"usr", "usr/app", "usr/app/trainer",
                                                        "usr/app/trainer/weights.bin"});
  CHECK(layers.at(0).size == 1'000'000);
  CHECK(paths(layers.at(1)).back() == "usr/app/trainer/words.txt");
}

TEST_CASE("much code is dealt to layers, and a file stays in its own") {
  auto fixture = code_only();
  for (int i = 0; i < 100; ++i) {
    fixture.tree.file("trainer/m" + std::to_string(i) + ".py", std::string(8'000, 'x'));
  }
  const auto before_plan = fixture.plan();
  const auto before = build::recipes(before_plan, 0);
  fixture.tree.file("trainer/m7.py", "edited");
  const auto after_plan = fixture.plan();
  const auto after = build::recipes(after_plan, 0);
  REQUIRE(before.size() == 3);  // directories, code 1 of 2, code 2 of 2
  REQUIRE(after.size() == before.size());
  const auto changed =
      std::inner_product(before.begin(), before.end(), after.begin(), 0, std::plus<>{},
                         [](const auto& a, const auto& b) { return a.key == b.key ? 0 : 1; });
  CHECK(changed == 1);
}

TEST_CASE("there are at most 16 layers of code") {
  auto fixture = code_only();
  for (int i = 0; i < 200; ++i) {
    fixture.tree.file("trainer/m" + std::to_string(i) + ".py", std::string(60'000, 'x'));
  }
  const auto plan = fixture.plan();
  const auto layers = plan::code_layers(plan);
  REQUIRE(layers.size() == 16);
  CHECK(layers.back().name == "code 16 of 16");
}

TEST_CASE("a layer's key is moved by what its tar holds and by nothing else") {
  const auto key = [](const plan::Fixture& fixture, std::int64_t time) {
    const auto plan = fixture.plan();
    return build::recipes(plan, time).back().key;
  };
  const auto original = code_only();
  const std::string before = key(original, 0);
  CHECK(key(original, 0) == before);
  CHECK(key(original, 1) != before);
  auto fixture = code_only();
  SUBCASE("contents") {
    fixture.tree.file("trainer/task.py", "print(2)\n");
  }
  SUBCASE("mode") {
    fixture.tree.file("trainer/task.py", "print(1)\n", true);
  }
  SUBCASE("a new directory") {
    fixture.tree.directory("trainer/empty");
  }
  SUBCASE("a link") {
    fixture.tree.symlink("trainer/link", "task.py");
  }
  CHECK(key(fixture, 0) != before);
}

TEST_CASE("the same recipe gives the same bytes") {
  const auto plan = code_only().plan();
  const auto recipes = build::recipes(plan, image::default_file_time);
  REQUIRE(recipes.size() == 2);
  CHECK(recipes[0].name == "directories");
  for (const auto& recipe : recipes) {
    CHECK(tar_of(recipe) == tar_of(recipe));
    CHECK(tar_of(recipe).size() % 512 == 0);
  }
  CHECK(tar_of(recipes[1]).find("print(1)") != std::string::npos);
}

TEST_CASE("a file that is not what the plan saw ends its layer") {
  auto plan = code_only().plan();
  const auto changed = std::make_shared<source::MemoryTree>(code_only().tree);
  plan.trees.at(0).tree = changed;
  const auto recipes = build::recipes(plan, 0);
  CHECK_NOTHROW(tar_of(recipes.back()));
  // The same length, longer, shorter.
  for (const std::string text : {"print(2)\n", "print(12)\n", ""}) {
    changed->file("trainer/task.py", text);
    CHECK_THROWS_WITH_AS(tar_of(recipes.back()), "`trainer/task.py` changed while it was read",
                         Error);
  }
}

TEST_CASE("an installation is not an obstacle to the direct engine") {
  auto fixture = code_only();
  const auto obstacle = [&] {
    return build::obstacle_to_direct(
        {std::make_shared<packaging::Wanted>(), fixture.plan(), std::nullopt});
  };
  CHECK_FALSE(fixture.plan().needs_dependency_image());
  CHECK_FALSE(obstacle());
  fixture.project.requirements = {"six"};
  CHECK(fixture.plan().needs_dependency_image());
  CHECK_FALSE(obstacle());
  fixture.project.package = project::Package{};
  CHECK_FALSE(obstacle());
}

TEST_CASE("files written by the package's installation are not in the layers of the code") {
  plan::Fixture fixture;
  fixture.project.package->installs = true;
  const auto plan = fixture.plan();
  const auto tar = tar_of(build::recipes(plan, 0, {"trainer/task.py"}).back());
  CHECK(tar.find("usr/app/trainer/__init__.py") != std::string::npos);
  CHECK(tar.find("usr/app/trainer/task.py") == std::string::npos);
}

TEST_CASE("the configuration is what the generated Dockerfile makes") {
  auto fixture = code_only();
  fixture.base.user = "1000";
  const auto plan = fixture.plan();
  const auto recipes = build::recipes(plan, image::default_file_time);
  const std::vector<image::LayerFacts> facts(recipes.size(),
                                             {.digest = sha256("layer"), .diff_id = sha256("tar")});
  const auto assembled = build::assemble(parent(), recipes, facts, image::default_file_time,
                                         build::configure_program(plan, {{"autopack.key", "k"}}));
  CHECK(assembled.manifest.layers.size() == 1 + recipes.size());
  CHECK(assembled.manifest.layers.back().media_type == image::media_type::docker_layer);
  CHECK(assembled.manifest.config.digest == sha256(assembled.configuration));
  const auto document = autopack::parse_json(assembled.configuration);
  const auto& config = document["config"];
  CHECK(config["Entrypoint"] == json{"python3", "trainer/task.py"});
  CHECK_FALSE(config.contains("Cmd"));
  CHECK(config["User"] == "1000");
  CHECK(config["WorkingDir"] == "/usr/app");
  CHECK(config["Env"] ==
        json{"PATH=/bin", "HOME=/home", "PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1"});
  CHECK(config["Labels"] == json{{"autopack.key", "k"}});
  CHECK(document["created"] == "1980-01-02T00:00:00Z");
  CHECK(document["rootfs"]["diff_ids"].size() == recipes.size());
}

}  // namespace autopack::build_direct_test
