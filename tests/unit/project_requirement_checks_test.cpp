#include "base/error.hpp"
#include "plan/advice.hpp"
#include "project/program/python_path.hpp"
#include "project/project.hpp"
#include "project/requirements/requirement_checks.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace autopack::project_requirement_checks_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Files = std::map<std::string, std::string>;

const std::string hash = " --hash=sha256:" + std::string(64, 'a');

/// The errors of a scan as `message (origin)`, one per line.
std::string errors(Files files, const Request& request = {.script = "task.py"}) {
  files["task.py"] = "";
  std::string text;
  try {
    scan(MemoryTree{files}, request);
  } catch (const Error& error) {
    for (const auto& problem : error.problems()) {
      if (problem.severity == Problem::Severity::error) {
        text +=
            (text.empty() ? "" : "\n") + problem.message + " (" + problem.origin.value_or("") + ")";
      }
    }
  }
  return text;
}

std::string of_requirements(const std::string& text, Files more = {}) {
  more["requirements.txt"] = text;
  return errors(std::move(more));
}

/// What the advice says of `text` on an executor image with these versions; nothing: not known.
Problems advice_of(const std::string& text,
                   const std::optional<std::map<std::string, std::string>>& installed) {
  const auto tree =
      std::make_shared<MemoryTree>(Files{{"task.py", ""}, {"requirements.txt", text}});
  const Request request{.script = "task.py"};
  const auto project = scan(*tree, request);
  const image::BaseFacts base{
      .reference = "python:3", .platform = "linux/amd64", .python = "python3", .pip = true};
  const auto plan = plan::make_plan(tree, project, request, base, {});
  return plan::advice(plan, project, plan::walk_imports(plan, project), {}, {},
                      [&] { return installed; })
      .warnings;
}

}  // namespace

TEST_CASE(
    "two requirements of one package that no version satisfies are an error with both places") {
  CHECK(of_requirements("six==1.16.0\n\nSix==1.15.0\n") ==
        "`six==1.15.0` contradicts `six==1.16.0` (requirements.txt:1): pip installs one version of "
        "a package (requirements.txt:3)");
  CHECK(of_requirements("six<1.16\nsix==1.16.0\n").find("contradicts `six<1.16`") !=
        std::string::npos);
  CHECK(of_requirements("six[a]==1.16\nsix==1.15\n").find("contradicts") != std::string::npos);
  CHECK(of_requirements("-r more.txt\nsix==1.16.0\n", {{"more.txt", "six==1.15.0\n"}})
            .find("(more.txt:1)") != std::string::npos);
  CHECK(of_requirements("-c limits.txt\nsix==1.16.0\n", {{"limits.txt", "six==1.15.0\n"}})
            .find("(limits.txt:1)") != std::string::npos);
  CHECK(errors({{"requirements.txt", "six==1.16.0\n"}},
               {.script = "task.py", .requirements = {"six==1.15.0"}})
            .find("(requirements)") != std::string::npos);
}

TEST_CASE("requirements of one package that a version satisfies are none") {
  for (const char* const text :
       {"six==1.16.0\nsix==1.16.0\n", "six==1.16\nsix==1.16.0\n", "six==1.16.0\nsix>=1.15\n",
        "torch==2.0.1\ntorch==2.0.1+cu118\n", "torch==2.0.1+cu118\ntorch==2.0.1\n",
        "six==1.16.0; python_version<'3.9'\nsix==1.15.0; python_version>='3.9'\n",
        "six==1.16.0; python_version<'3'\nsix==1.15.0\n", "six>2\nsix<1\n", "six===1\nsix===2\n",
        "a==1.0rc1\na>=0.9\n", "six==${V}\nsix==1.15\n", "six==1.*\nsix==1.15\n"}) {
    CAPTURE(text);
    CHECK(of_requirements(text).empty());
  }
  CHECK(of_requirements("-c limits.txt\nother\n", {{"limits.txt", "six==1.15\nsix==1.16\n"}})
            .empty());
}

TEST_CASE("what cannot have a hash is refused beside requirements with hashes") {
  const Files files{{"lib/setup.py", ""}, {"x-1-py3-none-any.whl", "zip"}};
  const std::string hashed = "six==1.16.0" + hash + "\n";
  CHECK(of_requirements(hashed + "./lib\n", files) ==
        "pip refuses `lib`, because requirements.txt:1 has a hash: a directory cannot have one "
        "(requirements.txt:2)");
  CHECK(of_requirements(hashed + "-e ./lib\n", files).find("a directory cannot") !=
        std::string::npos);
  CHECK(of_requirements(hashed + "git+https://h.test/r.git@main#egg=r\n").find("a repository") !=
        std::string::npos);
  CHECK(of_requirements(hashed + "./x-1-py3-none-any.whl\n", files) ==
        "pip refuses what has no hash, because requirements.txt:1 has a hash: "
        "`x-1-py3-none-any.whl` (requirements.txt:2) (requirements.txt:2)");
  CHECK(of_requirements("--require-hashes\nhttps://h.test/p.whl\n").find("`--require-hashes`") !=
        std::string::npos);
  CHECK(of_requirements(hashed + "p @ https://h.test/p.whl#sha256=" + std::string(64, 'a') + "\n")
            .empty());
  CHECK(of_requirements(hashed + "./lib ; python_version<'3'\n", files).empty());
  CHECK(of_requirements("six\n./lib\n", files).empty());
}

TEST_CASE("a requirement without a hash is refused unless the executor image has it") {
  const std::string text = "six==1.16.0" + hash + "\nidna==3.4\nnumpy\nold; python_version<'3'\n";
  const auto unknown = advice_of(text, std::nullopt);
  REQUIRE(unknown.size() == 1);
  CHECK(unknown[0].severity == Problem::Severity::warning);
  CHECK(unknown[0].message ==
        "pip refuses what has no hash, because requirements.txt:1 has a hash: `idna==3.4` "
        "(requirements.txt:2), `numpy` (requirements.txt:3)");
  const auto missing = advice_of(text, std::map<std::string, std::string>{{"numpy", "2.0"}});
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].severity == Problem::Severity::error);
  CHECK(missing[0].message.find("numpy") == std::string::npos);
  CHECK(advice_of(text, std::map<std::string, std::string>{{"numpy", "2.0"}, {"idna", "3.3"}})
            .size() == 1);
  CHECK(advice_of(text, std::map<std::string, std::string>{{"numpy", "2.0"}, {"idna", "3.4"}})
            .empty());
  CHECK(advice_of("idna==3.4\n", std::map<std::string, std::string>{}).empty());
}

TEST_CASE("a readme that a rule hides ends the build of most backends") {
  const auto project = [](const std::string& backend) {
    return "[build-system]\nrequires=[]\nbuild-backend='" + backend +
           "'\n[project]\nname='p'\nversion='1'\nreadme='README.md'\n";
  };
  for (const char* const backend : {"hatchling.build", "flit_core.buildapi", "pdm.backend"}) {
    CAPTURE(backend);
    CHECK(errors({{"pyproject.toml", project(backend)},
                  {"README.md", ""},
                  {"task.py", ""},
                  {".dockerignore", "*.md\n"}}) ==
          "`README.md`, the readme that `pyproject.toml` names, is ignored by the rule `*.md` "
          "(.dockerignore:1)");
    CHECK(errors({{"pyproject.toml", project(backend)}, {"README.md", ""}}).empty());
  }
  // setuptools does without.
  CHECK(errors({{"pyproject.toml", project("setuptools.build_meta")},
                {"README.md", ""},
                {".dockerignore", "*.md\n"}})
            .empty());
}

TEST_CASE("a file that setup.py opens and a rule hides is reported") {
  const auto warnings = [](const std::string& setup) {
    return scan(MemoryTree{Files{{"setup.py", setup},
                                 {"README.md", ""},
                                 {"task.py", ""},
                                 {".dockerignore", "*.md\n"}}},
                {.script = "task.py"})
        .warnings;
  };
  const auto found = warnings(
      "from setuptools import setup\nsetup(name='p',\n"
      "  long_description=open('README.md').read())\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].message ==
        "`setup.py` line 3 reads `README.md`, which the rule `*.md` leaves out");
  CHECK(found[0].origin == ".dockerignore:1");
  CHECK(warnings("from setuptools import setup\nsetup(name='README.md')\n").empty());
}

TEST_CASE("directories of the project that PYTHONPATH names") {
  using Roots = std::vector<std::string>;
  CHECK(roots_in_python_path("").empty());
  CHECK(roots_in_python_path("/usr/app/src:/opt/lib:lib/") == Roots{"src", "lib"});
  CHECK(roots_in_python_path("/usr/app") == Roots{""});
  CHECK(roots_in_python_path("/usr/application:../x").empty());
}

TEST_CASE("imports are looked for where the program's PYTHONPATH says") {
  const auto tree = std::make_shared<MemoryTree>(Files{
      {"scripts/train.py", "import lib.x\n"}, {"src/lib/__init__.py", ""}, {"src/lib/x.py", ""}});
  const auto warnings = [&](const std::optional<std::string>& path) {
    const Request request{.script = "scripts/train.py", .python_path = path};
    const auto project = scan(*tree, request);
    const image::BaseFacts base{
        .reference = "python:3", .platform = "linux/amd64", .python = "python3", .pip = true};
    const auto plan = plan::make_plan(tree, project, request, base, {});
    return plan::advice(plan, project, plan::walk_imports(plan, project)).warnings.size();
  };
  CHECK(warnings(std::nullopt) == 1);
  CHECK(warnings("/usr/app/src") == 0);
  CHECK(warnings("/usr/app/other") == 1);
}

TEST_CASE("a lock does not hide an import that it does not bring") {
  const std::string lock =
      "lock-version = \"1.0\"\ncreated-by = \"x\"\n[[packages]]\nname = \"tqdm\"\n"
      "version = \"4.66.1\"\n[[packages.wheels]]\n"
      "url = \"https://h.test/tqdm-4.66.1-py3-none-any.whl\"\nhashes = {sha256 = \"" +
      std::string(64, 'a') + "\"}\n";
  const auto tree = std::make_shared<MemoryTree>(
      Files{{"task.py", "import tqdm\nimport yaml\n"}, {"pylock.toml", lock}});
  const Request request{.script = "task.py", .lock = "pylock.toml"};
  const auto project = scan(*tree, request);
  const image::BaseFacts base{
      .reference = "python:3", .platform = "linux/amd64", .python = "python3", .pip = true};
  const auto plan = plan::make_plan(tree, project, request, base, {});
  const auto found = plan::advice(plan, project, plan::walk_imports(plan, project)).warnings;
  REQUIRE(found.size() == 1);
  CAPTURE(found[0].message);
  CHECK(found[0].message.find("`yaml`") != std::string::npos);
  CHECK(found[0].message.find("`tqdm`") == std::string::npos);
}

}  // namespace autopack::project_requirement_checks_test
