#include "base/digest.hpp"
#include "cli/starter_files.hpp"
#include "job/settings_file.hpp"
#include "state/base_cache.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>

#include <filesystem>

namespace autopack::testing::cli_init_test {

namespace {

constexpr auto* program = "if __name__ == '__main__':\n    print(1)\n";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("init writes what was inferred, and explain has nothing to warn of") {
  CliRun cli;
  cli.write("train.py", program);
  state::BaseCache{cli.cache() / "autopack" / "bases"}.store({.reference = "python:3.11",
                                                              .digest = sha256("base"),
                                                              .image_id = "sha256:base",
                                                              .platform = "linux/amd64",
                                                              .python = "python3",
                                                              .pip = true});
  CHECK(cli.run({"init"}) == 0);
  CHECK(cli.out.empty());
  CHECK(holds(cli.read("autopack.yaml"), "\n# The program: by its name.\nscript: train.py\n"));
  CHECK(holds(cli.read("autopack.yaml"), "\nexecutor-image-uri: \"python:3.11\"\n"));
  CHECK(holds(cli.read("autopack.yaml"), "\n# region: us-central1\n"));
  CHECK(holds(cli.read(".dockerignore"), "\n# data/\n"));
  CHECK(cli.run({"explain"}) == 0);
  CHECK_FALSE(holds(cli.errors, "arning"));
  CHECK_FALSE(holds(cli.errors, "Inferred"));
}

TEST_CASE("init writes no rule for large data, which goes in once the program names it") {
  CliRun cli;
  cli.write("train.py", program);
  cli.write("data/vocab.txt", "a");
  cli.write("data/big.bin", "");
  std::filesystem::resize_file(cli.directory() / "data/big.bin", 60'000'000);
  CHECK(cli.run({"init"}) == 0);
  CHECK(holds(cli.errors, "data/ without a rule: 60.0 MB, no code, named nowhere"));
  CHECK_FALSE(holds(cli.read(".dockerignore"), "\ndata\n"));
  cli.write("train.py", "open('data/vocab.txt')\n" + std::string{program});
  CHECK(cli.run({"explain", "--format=json"}) == 0);
  CHECK(holds(cli.out, "data/vocab.txt"));
}

TEST_CASE("init leaves alone what says the same already") {
  for (const auto* file : {"autopack.yaml", "pyproject.toml"}) {
    CliRun cli;
    cli.write("train.py", program);
    cli.write(".gcloudignore", "data\n");
    cli.write(file, file == std::string{"autopack.yaml"}
                        ? "script: train.py\n"
                        : "[tool.autopack]\nscript = 'train.py'\n");
    CHECK(cli.run({"init", "--format=value(kept)"}) == 0);
    CHECK(holds(cli.errors, std::string{"Kept  "} + file + " as it is"));
    CHECK_FALSE(std::filesystem::exists(cli.directory() / ".dockerignore"));
  }
  CliRun kept;
  kept.write("train.py", program);
  kept.write("autopack.yaml", "script: train.py\n");
  CHECK(kept.run({"init", "--script=train.py", "--executor-image-uri=python:3"}) == 0);
  CHECK(holds(kept.errors,
              "autopack.yaml as it is: it does not get `--executor-image-uri`, "
              "`--script`\n"));
  CliRun cli;
  cli.write("train.py", program);
  std::filesystem::create_symlink("nowhere", cli.directory() / "autopack.yaml");
  CHECK(cli.run({"init"}) == 0);
  CHECK_FALSE(std::filesystem::exists(cli.directory() / "nowhere"));
  CHECK(std::filesystem::exists(cli.directory() / ".dockerignore"));
}

TEST_CASE("the settings that init writes are read as they were meant, whatever they hold") {
  const auto text = cli::starter_settings_text(
      {.chosen = {{.value = "a: #b\n.py", .reason = "by\nits name", .flag = "--script"},
                  {.value = "train", .reason = "r", .flag = "--command"}},
       .name = "no",
       .image = "autopack/no",
       .location = {.project = "example.com:p", .region = "us-central1"}});
  std::map<std::string, std::string> values;
  for (const auto& setting : job::read_settings_file(text, "autopack.yaml")) {
    values[setting.key] = job::flag_values(setting).front().text();
  }
  CHECK(values.at("script") == "a: #b\n.py");
  CHECK(values.at("display-name") == "no");
  CHECK(values.at("project") == "example.com:p");
  CHECK(values.at("local-package-path") == ".");
  CHECK(values.contains("worker-pool-spec"));
}

}  // namespace autopack::testing::cli_init_test
