#include "base/error.hpp"
#include "plan/plan.hpp"
#include "project/project.hpp"
#include "source/tree.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace autopack::plan_links_test {

namespace {

namespace fs = std::filesystem;

/// A project `app` beside a directory `shared`.
struct Projects {
  TemporaryDirectory room{};
  fs::path app{room.path() / "app"};

  Projects() {
    write("app/train.py", "import common.util\n");
    write("shared/util.py", "");
  }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((room.path() / path).parent_path());
    std::ofstream{room.path() / path} << text;
  }

  void link(const std::string& target, const std::string& path) const {
    fs::create_directories((app / path).parent_path());
    fs::create_symlink(target, app / path);
  }

  std::string findings() const {
    const std::shared_ptr<const source::Tree> tree = source::make_disk_tree(app);
    const project::Request request{.directory = app, .script = "train.py"};
    Problems problems;
    try {
      problems = plan::make_plan(tree, project::scan(*tree, request), request,
                                 {.reference = "python:3", .python = "python3", .pip = true}, {})
                     .warnings;
    } catch (const Error& error) {
      problems = error.problems();
    }
    std::string text;
    for (const auto& problem : problems) {
      text += problem.severity == Problem::Severity::error ? "error: " : "warning: ";
      text += problem.message + " [" + problem.hints.front() + "]\n";
    }
    return text;
  }
};

}  // namespace

TEST_CASE("a link to code beside the project is an error where an import goes through it") {
  const Projects projects;
  projects.link("../shared", "common");
  CHECK(projects.findings() ==
        "error: `common` is a symbolic link to `../shared`, which is outside the working "
        "directory; `train.py` line 1 imports `common` [`-C .. --script=app/train.py` has it "
        "inside the project]\n");
  projects.write("app/train.py", "try:\n  import common.util\nexcept ImportError: pass\n");
  CHECK(projects.findings().starts_with("warning: `common` is a symbolic link to `../shared`"));
}

TEST_CASE("links into one directory are one warning") {
  const Projects projects;
  projects.write("app/train.py", "print(1)\n");
  for (const auto* name : {"a", "b", "c"}) {
    projects.link(std::string{"../../data/"} + name, std::string{"data/"} + name);
    projects.link(std::string{"nowhere/"} + name, std::string{"docs/"} + name);
  }
  CHECK(projects.findings() ==
        "warning: `data/a` is a symbolic link to `../../data/a`, which is outside the working "
        "directory; 2 more links lead into `../data` [`-C .. --script=app/train.py` has it inside "
        "the project]\n"
        "warning: `docs/a` is a symbolic link to `nowhere/a`, which does not exist; 2 more "
        "links lead into `docs/nowhere` [`--exclude=docs/a` leaves it out]\n");
}

TEST_CASE("an absolute link to a place inside the project names the relative one") {
  const Projects projects;
  projects.write("app/train.py", "print(1)\n");
  projects.write("app/real/x.csv", "");
  projects.link((projects.app / "real").string(), "data");
  projects.link((projects.app / "real/x.csv").string(), "a/b/x.csv");
  const auto said = projects.findings();
  CHECK(said.find("an absolute path, which the image does not have [ln -sfn real data]") !=
        std::string::npos);
  CHECK(said.find("[ln -sfn ../../real/x.csv a/b/x.csv]") != std::string::npos);
  CHECK(said.find("error") == std::string::npos);
}

}  // namespace autopack::plan_links_test
