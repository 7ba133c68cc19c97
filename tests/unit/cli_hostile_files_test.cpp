#include "base/error.hpp"
#include "base/file.hpp"
#include "registry/credentials.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

namespace autopack::testing::cli_hostile_files_test {

namespace {

struct Hostile : CliRun {
  Hostile() { write("train.py", "print(1)\n"); }

  /// Checks that `explain` ends with `status`, and reports `what` about `file`.
  void check_refusal(const std::string& file, const std::string& what, int status = 2) {
    const int ended = run({"explain", "--script=train.py", "--executor-image-uri=python:3"});
    INFO(errors);
    CHECK(ended == status);
    CHECK(errors.find("`" + file + "`") != std::string::npos);
    CHECK(errors.find(what) != std::string::npos);
  }
};

std::string repeated(const std::string& text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i) {
    all += text;
  }
  return all;
}

}  // namespace

TEST_CASE("aliases in autopack.yaml are limited by their expansion") {
  Hostile cli;
  cli.write("autopack.yaml", "env: &a [*a]\n");
  cli.check_refusal("autopack.yaml", "alias");
  cli.write("autopack.yaml", "env: &a {b: *a}\n");
  cli.check_refusal("autopack.yaml", "alias");
  std::string nested = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    nested += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" +
              repeated("*a" + std::to_string(i - 1) + ", ", 10) + "]\n";
  }
  cli.write("autopack.yaml", nested);
  cli.check_refusal("autopack.yaml", "aliases");
  cli.write("autopack.yaml", repeated("[", 100'000));
  cli.check_refusal("autopack.yaml", "line 1");
  cli.write("autopack.yaml", "env: [" + repeated("x, ", 400'000) + "]\n");
  cli.check_refusal("autopack.yaml", "larger than 1 MiB");
}

TEST_CASE("a key of pyproject.toml has no more parts than anybody writes") {
  Hostile cli;
  cli.write("pyproject.toml", "[tool.autopack]\na" + repeated(".a", 50'000) + " = 1\n");
  cli.check_refusal("pyproject.toml", "line 2");
  cli.write("pyproject.toml", "# autopack\n[a" + repeated(". \"a\"", 50'000) + "]\n");
  cli.check_refusal("pyproject.toml", "more than 32 parts");
  cli.write("pyproject.toml", "[tool.other]\ntext = '" + repeated("a.", 100) + "' # " +
                                  repeated("a.", 100) + "\nlong = \"\"\"" + repeated("a.", 100) +
                                  "\\\"\"\"\"\nparts = [" + repeated("1.5, ", 100) +
                                  "]\n[tool.autopack]\nregion = 'x'\n");
  CHECK(cli.run({"explain", "--script=train.py", "--executor-image-uri=python:3"}) != 2);
}

TEST_CASE("an endless file is refused") {
  for (const std::string name : {"autopack.yaml", "pyproject.toml"}) {
    Hostile cli;
    REQUIRE(::mkfifo(name.c_str(), 0600) == 0);
    cli.check_refusal(name, "FIFO", 1);
    std::filesystem::remove(name);
    std::filesystem::create_symlink("/dev/zero", name);
    cli.check_refusal(name, "device", 1);
    std::filesystem::remove(name);
    cli.write(name, "");
    std::filesystem::resize_file(name, std::uintmax_t{1} << 40U);
    cli.check_refusal(name, "larger than 64 MiB", 1);
  }
  Hostile cli;
  cli.write("requirements.txt", "");
  std::filesystem::resize_file("requirements.txt", std::uintmax_t{1} << 40U);
  cli.check_refusal("requirements.txt", "larger than 64 MiB");
}

TEST_CASE("no configuration is waited for") {
  const Hostile cli;
  REQUIRE(::mkfifo("config.json", 0600) == 0);
  const auto logins = registry::make_docker_credentials(Environment{{{"DOCKER_CONFIG", "."}}});
  CHECK_THROWS_WITH_AS(logins("registry.example.com"), "cannot read `./config.json`", Error);
}

TEST_CASE("a file that the user names may be a pipe, and /dev/null is empty") {
  Hostile cli;
  CHECK(read_file("/dev/null").empty());
  REQUIRE(::mkfifo("pipe", 0600) == 0);
  std::thread writer{[] { std::ofstream{"pipe"} << "text"; }};
  CHECK(read_file("pipe", FileSort::any) == "text");
  writer.join();
}

}  // namespace autopack::testing::cli_hostile_files_test
