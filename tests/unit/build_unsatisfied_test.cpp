#include "base/text.hpp"
#include "build/wheels/unsatisfied.hpp"
#include "project/project.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <string>

namespace autopack::build {

namespace {

/// Returns the explanation `cause` of uv for a project with `requirements`, as lines.
std::string told(const std::string& requirements, const std::string& cause) {
  const source::MemoryTree tree{{"run.sh", ""},
                                {"requirements.txt", requirements},
                                {"setup.py", "from setuptools import setup\nsetup(name='x')\n"}};
  const auto project = project::scan(tree, {.script = "run.sh"});
  const auto error =
      with_places(Error{ErrorKind::project, "the requirements cannot be resolved"}.cause(cause),
                  project, {"own>=1"});
  std::string lines = error.problems().empty() ? error.message() + "\n" : "";
  for (const auto& one : error.causes()) {
    lines += "  " + one + "\n";
  }
  for (const auto& problem : error.problems()) {
    lines += problem.message + " (" + problem.origin.value_or("") + ") " +
             join(problem.hints, ", ") + "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("a requirement that no index has is named with its line and a remedy") {
  const auto absent = [](const std::string& name) {
    return told("rich\n" + name + "\n", "Because " + name +
                                            " was not found in the package registry and you "
                                            "require " +
                                            name + ", we can conclude nothing.");
  };
  CHECK(absent("os") ==
        "no index has a package `os` (requirements.txt:2) `os` is part of Python: leave it out\n");
  CHECK(absent("reqeusts") ==
        "no index has a package `reqeusts` (requirements.txt:2) did you mean `requests`?\n");
  CHECK(absent("cv2") ==
        "no index has a package `cv2` (requirements.txt:2) the module `cv2` is in "
        "`opencv-python`\n");
  CHECK(absent("zzyzx-lab") == "no index has a package `zzyzx-lab` (requirements.txt:2) \n");
  CHECK(told("torch==2.1+cu121\n",
             "Because there is no version of torch==2.1+cu121 and you require torch==2.1+cu121, "
             "we can conclude nothing.") ==
        "no index has `torch==2.1+cu121` (requirements.txt:1) name the index with the builds "
        "`+cu121`: a line `--extra-index-url URL`, or leave `+cu121` out\n");
}

TEST_CASE("a repository that cannot be fetched is named with its line") {
  const source::MemoryTree tree{
      {"run.sh", ""},
      {"requirements.txt", "rich\ngit+https://host/a/b.git#subdirectory=c&egg=d\n"}};
  const auto project = project::scan(tree, {.script = "run.sh"});
  const auto error = with_places(
      Error{ErrorKind::project, "could not fetch `https://host/a/b.git`"}.cause("git: no").hint(
          "try"),
      project, {});
  REQUIRE(error.problems().size() == 1);
  CHECK(error.problems()[0].text() == "could not fetch `https://host/a/b.git`: git: no");
  CHECK(error.problems()[0].origin == "requirements.txt:2");
  CHECK(error.problems()[0].hints == std::vector<std::string>{"try"});
}

TEST_CASE("a conflict names the lines of the requirements in it") {
  const std::string cause{
      "Because tf==2.15.0 depends on numpy>=1.23.5,<2.0.0 and you require tf==2.15, we can "
      "conclude that you require numpy>=1.23.5,<2.0.0. And because you require numpy>=2.1 and you "
      "require own>=1, we can conclude that your requirements are unsatisfiable."};
  CHECK(told("rich\ntf==2.15\nnumpy >= 2.1\n", cause) ==
        "the requirements cannot be resolved\n  " + cause +
            "\n  requirements.txt:2 requires `tf==2.15`\n  requirements.txt:3 requires "
            "`numpy>=2.1`\n  setup.py requires `own>=1`\n");
  CHECK(told("rich\n", "uv ended with status 9") ==
        "the requirements cannot be resolved\n  uv ended with status 9\n");
}

}  // namespace autopack::build
