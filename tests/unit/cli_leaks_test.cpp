#include "support/cli_run.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace autopack::testing::cli_leaks_test {

namespace {

struct Project : CliRun {
  Project() { write("train.py", "print(1)\n"); }

  int explain(std::vector<std::string> flags = {}) {
    flags.insert(flags.begin(), {"explain", "--executor-image-uri=python:3.11"});
    return run(flags);
  }

  bool says(const std::string& text) const { return errors.find(text) != std::string::npos; }
};

}  // namespace

TEST_CASE("a login of an index in a requirement file is refused with the ways without it") {
  Project project;
  const std::string password = std::string{"s3cr%3A"} + "et";
  project.write(
      "requirements.txt",
      "--index-url http:" + ("//bob:" + password + "@127.0.0.1:9/simple\n") + "einops==0.8.0\n");
  CHECK(project.explain({"--check", "--script=train.py"}) == 2);
  CAPTURE(project.errors);
  CHECK(project.says("`requirements.txt` line 1 holds a package index login"));
  CHECK(project.says("write `${NAME}` instead of the login"));
  CHECK(project.says("pip.conf or ~/.netrc of this machine may hold it"));
  CHECK(project.says("if it may be seen: echo"));
  CHECK_FALSE(project.says(".dockerignore"));
  CHECK_FALSE(project.says(password));
  CHECK(project.out.find(password) == std::string::npos);
}

TEST_CASE("a home directory needs confirmation as a project, and the root is refused") {
  Project project;
  CHECK(project.explain({"--script=train.py"}) == 0);
  CHECK_FALSE(project.says("home directory"));
  project.set("HOME", project.directory().string());
  CHECK(project.explain({"--script=train.py"}) == 0);
  CHECK(project.says("is your home directory"));
  for (const char* command : {"explain", "build", "run", "dockerfile"}) {
    CAPTURE(command);
    CHECK(project.run({"-C", "/", command, "--executor-image-uri=python:3.11",
                       "--script=train.py"}) == (std::string{"run"} == command ? 125 : 2));
    CHECK(project.says("which holds the whole machine"));
  }
  std::filesystem::current_path(project.directory());
}

TEST_CASE("a cache of autopack inside the project stays out, wherever it is") {
  Project project;
  project.set("XDG_CACHE_HOME", (project.directory() / "my cache").string());
  project.write("my cache/autopack/layers/x", "x");
  project.write("my cache/other", "x");
  CHECK(project.explain({"--script=train.py", "--format=json"}) == 0);
  CHECK(project.out.find("my cache/other") != std::string::npos);
  CHECK(project.out.find("my cache/autopack/layers") == std::string::npos);
}

}  // namespace autopack::testing::cli_leaks_test
