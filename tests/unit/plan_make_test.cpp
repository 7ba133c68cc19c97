#include "base/json.hpp"
#include "plan_fixture.hpp"
#include "python/requirement.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

namespace autopack::plan_make_test {

using autopack::plan::Fixture;

namespace {

std::vector<std::string> messages(const Fixture& fixture) {
  std::vector<std::string> texts;
  try {
    static_cast<void>(fixture.plan());
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::project);
    for (const Problem& problem : error.problems()) {
      texts.push_back(problem.message + " | " + problem.origin.value_or(""));
    }
    if (texts.empty()) {
      texts.push_back(error.message());
    }
  }
  return texts;
}

bool contains(const std::vector<std::string>& texts, std::string_view part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& text) { return text.find(part) != std::string::npos; });
}

std::vector<std::string> paths(const std::vector<plan::ContextEntry>& entries) {
  std::vector<std::string> all;
  for (const auto& entry : entries) {
    all.push_back(entry.path);
  }
  return all;
}

source::Selection rules(const std::string& text) {
  source::IgnoreRules rules;
  rules.add(text, ".dockerignore");
  return rules;
}

}  // namespace

TEST_CASE("plan: the code step copies the whole working directory from its place") {
  Fixture fixture;
  fixture.project.extra_dirs = {"shared"};
  fixture.tree.directory("trainer/data");
  const plan::ReadablePlan plan = fixture.plan();
  CHECK(plan.copies == std::vector<plan::Copy>{{}});
  CHECK(paths(plan.code) ==
        std::vector<std::string>{"notes.md", "requirements.txt", "setup.py", "shared",
                                 "shared/x.py", "trainer", "trainer/__init__.py", "trainer/data",
                                 "trainer/task.py", "wheels", "wheels/a-1-py3-none-any.whl"});
  CHECK(plan.entrypoint == std::vector<std::string>{"python3", "trainer/task.py"});
}

TEST_CASE("plan: how an entry starts") {
  struct Case {
    project::Entry entry;
    std::vector<std::string> entrypoint;
  };

  using project::EntryKind;
  const std::vector<Case> cases{
      {{EntryKind::python_script, "a/b/t.py", "a/b/t.py"}, {"python3", "a/b/t.py"}},
      {{EntryKind::python_script, "t.py", "t.py"}, {"python3", "t.py"}},
      {{EntryKind::shell_script, "a/x.sh", "a/x.sh"}, {"/bin/bash", "a/x.sh"}},
      {{EntryKind::module, "a.b.t", "a/b/t.py"}, {"python3", "-m", "a.b.t"}},
      {{EntryKind::module, "a.b", "a/b/__main__.py"}, {"python3", "-m", "a.b"}},
      {{EntryKind::module, "t", "t.py"}, {"python3", "-m", "t"}},
      {{EntryKind::module, "a", "a/__main__.py"}, {"python3", "-m", "a"}},
      {{EntryKind::module, "a.t", "src/a/t.py"}, {"python3", "-m", "a.t"}},
      {{EntryKind::module, "a", "lib/a/__main__.py"}, {"python3", "-m", "a"}},
      {{EntryKind::python_script, "-c.py", "-c.py"}, {"python3", "./-c.py"}},
  };
  for (const Case& one : cases) {
    const auto& file = one.entry.file.value();
    CAPTURE(file);
    Fixture fixture;
    fixture.tree = source::MemoryTree{{file, "x"}};
    fixture.project = {.entry = one.entry};
    const plan::ReadablePlan plan = fixture.plan();
    CHECK(plan.entrypoint == one.entrypoint);
  }
}

TEST_CASE("plan: all files that cannot be packaged are reported at once and by name") {
  Fixture fixture;
  fixture.tree.other("trainer/pipe", "fifo").other("trainer/s", "socket");
  fixture.tree.file("trainer/.wh.x", "").file("shared/.wh..opq", "");
  const auto found = messages(fixture);
  CHECK(found.size() == 4);
  CHECK(contains(found, "`trainer/pipe` is a fifo"));
  CHECK(contains(found, "`trainer/s` is a socket"));
  CHECK(contains(found, "`trainer/.wh.x`"));
  CHECK(contains(found, "`shared/.wh..opq`"));
}

TEST_CASE("plan: a needed file that is ignored is an error that names the rule and its place") {
  Fixture fixture;
  fixture.project.ignore = rules("*.txt\n\ntrainer/task.py\nshared\n");
  const auto found = messages(fixture);
  CHECK(found.size() == 2);
  CHECK(contains(found, "`requirements.txt` is needed in the image, but the rule `*.txt`"));
  CHECK(contains(found, ".dockerignore:1"));
  CHECK(contains(found, ".dockerignore:3"));
}

TEST_CASE("plan: a wheel whose file name is of another Python or platform is refused") {
  using python::Requirement;
  Fixture fixture;
  fixture.base.python_version = "3.11";
  const auto refused = [&](const std::string& tags) {
    auto changed = fixture;
    const std::string file = "some-1.0-" + tags + ".whl";
    changed.project.listed_requirements = {
        {.requirement = {.kind = Requirement::Kind::path, .target = "wheels/" + file},
         .origin = "requirements.txt:3"},
        {.requirement = {.kind = Requirement::Kind::url,
                         .target = "https://example.org/other-1.0-" + tags + ".whl#sha256=0"},
         .origin = "requirements.txt:4"}};
    return messages(changed);
  };
  for (const char* const tags :
       {"cp312-cp312-manylinux_2_17_x86_64", "cp311-cp311-macosx_11_0_arm64",
        "cp311-cp311-win_amd64", "cp311-cp311-manylinux_2_17_aarch64",
        "cp312-abi3-manylinux_2_17_x86_64", "py2-none-any", "py312-none-any"}) {
    CAPTURE(tags);
    const auto found = refused(tags);
    REQUIRE(found.size() == 2);
    CHECK(contains(found,
                   fmt::format("`some-1.0-{}.whl` is not for Python 3.11 on linux/amd64", tags)));
    CHECK(contains(found, "requirements.txt:3"));
    CHECK(contains(found, "requirements.txt:4"));
  }
  for (const char* const tags :
       {"cp311-cp311-manylinux_2_40_x86_64", "cp311-cp311-musllinux_1_2_x86_64",
        "cp38-abi3-linux_x86_64", "py2.py3-none-any", "cp311-cp311t-manylinux2014_x86_64",
        "pp310-pypy310_pp73-linux_x86_64"}) {
    CAPTURE(tags);
    CHECK(refused(tags).empty());
  }
  fixture.project.extra_packages = {"wheels/some-1.0-cp312-cp312-linux_x86_64.whl"};
  fixture.tree.file("wheels/some-1.0-cp312-cp312-linux_x86_64.whl", "");
  CHECK(contains(messages(fixture), "is not for Python 3.11 on linux/amd64"));
  fixture.base.python_version.reset();
  CHECK(messages(fixture).empty());
}

TEST_CASE("plan: ignored files stay out, and what comes back has its directories") {
  Fixture fixture;
  fixture.tree.file("trainer/data/a.bin", "a").file("trainer/data/b.bin", "b");
  fixture.project.ignore = rules("trainer/data\n!trainer/data/a.bin\n");
  const auto code = paths(fixture.plan().code);
  CHECK(std::count(code.begin(), code.end(), "trainer/data/a.bin") == 1);
  CHECK(std::count(code.begin(), code.end(), "trainer/data/b.bin") == 0);
  CHECK(std::count(code.begin(), code.end(), "trainer/data") == 1);
}

TEST_CASE("plan: python and pip come by apt where the base has none") {
  Fixture fixture;
  fixture.base.python = std::nullopt;
  fixture.base.pip = false;
  fixture.options.system_packages = {"git", "libgomp1"};
  const plan::ReadablePlan plan = fixture.plan();
  CHECK(plan.dependencies.apt_packages ==
        std::vector<std::string>{"python3", "python3-pip", "git", "libgomp1"});
  CHECK(plan.entrypoint.front() == "python3");
  fixture.base.apt = false;
  CHECK(contains(messages(fixture),
                 "`example.org/base:1` has no Python, and no apt-get to install `python3`, "
                 "`python3-pip`"));
}

TEST_CASE("plan: a shell script on a base without python needs neither python nor apt") {
  Fixture fixture;
  fixture.tree = source::MemoryTree{{"run.sh", "true"}};
  fixture.project = {.entry = {project::EntryKind::shell_script, "run.sh", "run.sh"}};
  fixture.base = {.reference = "scratchy"};
  CHECK(fixture.plan().dependencies.empty());
}

TEST_CASE("plan: text that would add lines to the Dockerfile is refused") {
  Fixture fixture;
  fixture.project.requirements = {"a\nRUN evil", "-r evil.txt"};
  fixture.base.user = "u\nUSER root";
  const auto found = messages(fixture);
  CHECK(contains(found, "cannot be written into a Dockerfile"));
  CHECK(contains(found, "`-r evil.txt` is an option of pip"));
  CHECK(contains(found, "USER root"));
}

TEST_CASE("plan: extras outside the working directory travel below their own directory") {
  const TemporaryDirectory outside;
  std::filesystem::create_directories(outside.path() / "common/.git");
  std::ofstream{outside.path() / "common/c.py"} << "c = 1\n";
  std::ofstream{outside.path() / "common/.git/HEAD"} << "x";
  std::ofstream{outside.path() / "w-1-py3-none-any.whl"} << "zip";
  Fixture fixture;
  fixture.project.outside_dirs = {
      {.name = "common", .path = outside.path() / "common", .is_directory = true}};
  fixture.project.outside_packages = {
      {.name = "w-1-py3-none-any.whl", .path = outside.path() / "w-1-py3-none-any.whl"}};
  const plan::ReadablePlan plan = fixture.plan();
  CHECK(plan.copies.front() ==
        plan::Copy{.source = ".autopack/extras/common", .destination = "common"});
  CHECK(plan.dependencies.packages.back() == ".autopack/extras/w-1-py3-none-any.whl");
  CHECK(paths(plan.code).front() == ".autopack/extras/common");
  CHECK(paths(plan.code)[1] == ".autopack/extras/common/c.py");
  CHECK(paths(plan.code)[2] == "notes.md");
  CHECK(plan.code[1].content == sha256("c = 1\n"));
  CHECK(plan::context_path(plan.code[1], "project") == ".autopack/extras/common/c.py");
  CHECK(plan::context_path(plan.code[3], "project") == "project/requirements.txt");
}

TEST_CASE("plan: the context holds inputs and code, each path once") {
  Fixture fixture;
  const plan::ReadablePlan plan = fixture.plan();
  const auto entries = plan::context(plan);
  CHECK(entries.size() == plan.code.size());
  CHECK(std::is_sorted(entries.begin(), entries.end(),
                       [](const auto* a, const auto* b) { return a->path < b->path; }));
}

TEST_CASE("plan: the user's own Dockerfile is taken as it is, with all that is not ignored") {
  const TemporaryDirectory directory;
  std::ofstream{directory.path() / "Own"} << "FROM x\n";
  Fixture fixture;
  fixture.project = {};
  fixture.project.ignore = rules("*.md\n");
  fixture.request.dockerfile = directory.path() / "Own";
  const plan::ReadablePlan plan = fixture.plan();
  CHECK(plan.dockerfile == "FROM x\n");
  CHECK(plan::render_dockerfile(plan, {.buildkit = false}, {}) == "FROM x\n");
  CHECK(plan.code.size() == 9);
  std::ofstream{directory.path() / "Own"} << "FROM y\n";
  CHECK(fixture.plan().keys->image != plan.keys->image);
}

TEST_CASE("plan: prints as one JSON object with every part") {
  Fixture fixture;
  fixture.tree.file("trainer/\xff", "x").symlink("trainer/link", "task.py");
  const plan::ReadablePlan plan = fixture.plan();
  const std::string text = plan::to_json(plan);
  CHECK(text.ends_with("}\n"));
  const auto json = autopack::parse_json(text);
  CHECK(json["dependencies"]["install"] == false);
  CHECK(json["dependencies"]["package_files"][0]["source"] == "setup.py");
  CHECK(json["copies"][0]["source"] == ".");
  CHECK(json["code"][6]["path"] == "trainer/__init__.py");
  CHECK(json["code"][7]["target"] == "task.py");
  CHECK(json["code"][9]["path"] == "trainer/\\xff");
  CHECK(json["image_key"] == plan.keys->image);
}

}  // namespace autopack::plan_make_test
