#include "base/error.hpp"
#include "project/inference.hpp"
#include "project/requires_python.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

namespace autopack::project_inference_test {

using namespace autopack::project;

namespace {

const std::string guarded = "import sys\n\nif __name__ == '__main__':\n    print(1)\n";
const std::string plain = "def f():\n    if __name__ == 'x':\n        pass\n";

struct Chosen {
  Inferred inferred{};
  Request request{};
};

Chosen entry_of(const source::MemoryTree& tree) {
  Chosen chosen;
  chosen.inferred = infer_entry(tree, chosen.request);
  return chosen;
}

std::vector<std::string> choices(const source::MemoryTree& tree) {
  try {
    entry_of(tree);
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    return error.hints();
  }
  return {};
}

std::string image_of(const source::MemoryTree& tree, const std::string& requires_python) {
  Project project;
  if (!requires_python.empty()) {
    project.requires_python =
        RequiresPython{.text = requires_python,
                       .origin = "pyproject.toml: [project] requires-python",
                       .alternatives = {python::SpecifierSet::parse(requires_python).value()}};
  }
  return infer_executor_image(tree, project).value;
}

}  // namespace

TEST_CASE("the only file with a main guard is the entry") {
  const auto chosen = entry_of({{"fit.py", guarded}, {"net.py", plain}, {"setup.py", guarded}});
  CHECK(chosen.request.script == "fit.py");
  CHECK(chosen.inferred.value == "fit.py");
  CHECK(chosen.inferred.flag == "--script");
}

TEST_CASE("a usual name is the entry where guards do not tell") {
  CHECK(entry_of({{"train.py", guarded}, {"eval.py", guarded}}).request.script == "train.py");
  CHECK(entry_of({{"main.py", plain}, {"net.py", plain}}).request.script == "main.py");
  CHECK(entry_of({{"trainer/task.py", plain}, {"setup.py", plain}}).request.script ==
        "trainer/task.py");
}

TEST_CASE("the only program of the project's package is the entry") {
  const auto chosen = entry_of(
      {{"pyproject.toml", "[project]\nname = \"x\"\n[project.scripts]\nfit-x = \"x.cli:main\"\n"},
       {"x/cli.py", plain}});
  CHECK(chosen.request.command == std::vector<std::string>{"fit-x"});
  CHECK(chosen.inferred.flag == "--command");
}

TEST_CASE("the only Python file is the entry") {
  CHECK(entry_of({{"go.py", plain}, {"data.csv", ""}}).request.script == "go.py");
}

TEST_CASE("where none stands out the choices are told") {
  CHECK(choices({{"a.py", guarded}, {"b.py", guarded}, {"c d.py", plain}}) ==
        std::vector<std::string>{"--script a.py", "--script b.py", "--script 'c d.py'"});
  CHECK(choices({{"README.md", ""}}).size() == 1);
}

TEST_CASE("an enormous file is not looked at") {
  const std::string huge = guarded + std::string(2'000'000, '#');
  CHECK(choices({{"a.py", huge}}).size() == 1);
}

TEST_CASE("the executor image suits the project's Python") {
  CHECK(image_of({}, "") == "python:3.11");
  CHECK(image_of({}, ">=3.9") == "python:3.11");
  CHECK(image_of({}, ">=3.12") == "python:3.12");
  CHECK(image_of({}, ">=3.9,<3.11") == "python:3.10");
  CHECK(image_of({{".python-version", "3.13.1\n"}}, ">=3.9") == "python:3.13");
  CHECK(image_of({{".python-version", "pypy3.10-7.3\n"}}, ">=3.12") == "python:3.12");
  CHECK_THROWS_AS(image_of({}, "<3"), Error);
}

}  // namespace autopack::project_inference_test
