#include "base/text.hpp"
#include "project/package/static_installation.hpp"
#include "project/project.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace autopack::project_static_installation_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Files = std::map<std::string, std::string>;

StaticInstallation installation_of(Files files) {
  files.emplace("run.sh", "");
  const MemoryTree tree{files};
  return static_installation(tree, scan(tree, {.script = "run.sh"}));
}

/// Returns `directory | its top-level modules`, with `only` if nothing else is found; else the
/// reason.
std::string layout(const Files& files) {
  const auto installation = installation_of(files);
  if (installation.reason) {
    return *installation.reason;
  }
  const std::vector<std::string> names{installation.top_level.begin(),
                                       installation.top_level.end()};
  return installation.directory + " | " + join(names, " ") +
         (installation.finds_top_level_only ? " only" : "");
}

std::string build_system(const std::string& tool) {
  static const std::map<std::string, std::string> backends{
      {"hatchling", "hatchling.build"},        {"flit_core", "flit_core.buildapi"},
      {"setuptools", "setuptools.build_meta"}, {"poetry-core", "poetry.core.masonry.api"},
      {"pdm-backend", "pdm.backend"},          {"uv_build", "uv_build"}};
  return "[build-system]\nrequires = [\"" + tool + "\"]\nbuild-backend = \"" + backends.at(tool) +
         "\"\n";
}

/// Returns a project that `tool` builds, with a package in `root`.
Files project_of(const std::string& tool,
                 const std::string& root,
                 const std::string& settings = {},
                 Files more = {}) {
  more.emplace(root + "my_lab/__init__.py", "");
  more.emplace(
      "pyproject.toml",
      build_system(tool) + "[project]\nname = \"My.Lab\"\nversion = \"1.0-rc.1\"\n" + settings);
  return more;
}

std::string metadata(const std::string& fields, Files more = {}) {
  const auto installation = installation_of(project_of("hatchling", "", fields, std::move(more)));
  return installation.reason.value_or(installation.metadata);
}

struct Case {
  std::string expected{};
  Files files{};
};

void check(const std::vector<Case>& cases) {
  for (const auto& one : cases) {
    CAPTURE(one.files.at("pyproject.toml"));
    CHECK(layout(one.files) == one.expected);
  }
}

const std::string flit_module = "[tool.flit.module]\nname = \"my_lab\"\n";

}  // namespace

TEST_CASE("a version that a file says needs no build") {
  const auto version = [](const std::string& tool, const std::string& settings,
                          const std::string& text) {
    const auto installation = installation_of(
        {{"my_lab/__init__.py", text},
         {"pyproject.toml", build_system(tool) +
                                "[project]\nname = \"my_lab\"\ndynamic = [\"version\"]\n" +
                                settings}});
    CHECK((installation.reason.has_value() ||
           installation.looked.read.contains("my_lab/__init__.py")));
    return installation.reason.value_or(installation.version);
  };
  const std::string unknown = "`project.dynamic` leaves `version` to it";
  const std::string pdm = "[tool.pdm.version]\nsource = \"file\"\npath = \"my_lab/__init__.py\"\n";
  const std::string hatch = "[tool.hatch.version]\npath = \"my_lab/__init__.py\"\n";
  CHECK(version("pdm-backend", pdm, "import x\n__version__ = '1.2'  # now\n") == "1.2");
  CHECK(version("hatchling", hatch, "__version__=\"1.2rc1\"\n") == "1.2rc1");
  CHECK(version("hatchling", hatch, "VERSION = '1.2'\n") == unknown);
  CHECK(version("pdm-backend", pdm, "__version__ = get()\n") == unknown);
  CHECK(version("pdm-backend", pdm, "__version__ = '1' + '2'\n") == unknown);
  CHECK(version("hatchling", hatch + "pattern = \"x\"\n", "__version__ = '1.2'\n") == unknown);
  CHECK(version("hatchling", "", "__version__ = '1.2'\n") == unknown);
}

TEST_CASE("where the modules of a package are found that needs no build") {
  const std::string wheel_packages = "[tool.hatch.build.targets.wheel]\npackages = ";
  check({
      {" | ", project_of("hatchling", "")},
      {"src | ", project_of("hatchling", "src/")},
      {"lib | ", project_of("hatchling", "lib/", wheel_packages + "[\"lib/my_lab\"]\n")},
      {" | ", project_of("flit_core", "", flit_module)},
      {"src | ", project_of("flit_core", "src/", flit_module)},
      {" | ", project_of("poetry-core", "")},
      {"src | ", project_of("poetry-core", "src/")},
      {"lib | ",
       project_of("poetry-core", "lib/",
                  "[tool.poetry]\npackages = [{include = \"my_lab\", from = \"lib\"}]\n")},
      {" | ", project_of("pdm-backend", "")},
      {"src | ", project_of("pdm-backend", "src/")},
      {"src | ", project_of("uv_build", "src/")},
      {" | ", project_of("uv_build", "", "[tool.uv.build-backend]\nmodule-root = \"\"\n")},
      {" | my_lab only", project_of("setuptools", "")},
      {"src | my_lab other", project_of("setuptools", "src/", "", {{"src/other.py", ""}})},
      {" | my_lab only",
       project_of("setuptools", "", "[tool.setuptools]\npackages = [\"my_lab\", \"my_lab.sub\"]\n",
                  {{"other/__init__.py", ""}})},
      {" | my_lab only",
       project_of("setuptools", "", "[tool.setuptools.packages.find]\ninclude = [\"my*\"]\n",
                  {{"other/data.txt", ""}})},
      {"lib | my_lab",
       project_of("setuptools", "lib/", "[tool.setuptools.packages.find]\nwhere = [\"lib\"]\n")},
      {" | task only", project_of("setuptools", "", "[tool.setuptools]\npy-modules = [\"task\"]\n",
                                  {{"task.py", ""}})},
      {" | my_lab only",
       project_of("setuptools", "", "", {{"setup.cfg", "[flake8]\nmax-line-length = 100\n"}})},
  });
}

TEST_CASE("why a package has to be built") {
  const auto twice = [](const std::string& text) { return text + text; };
  check({
      {"setup.py runs", project_of("setuptools", "", "", {{"setup.py", "setup()\n"}})},
      {"setup.cfg has settings of its own",
       project_of("setuptools", "", "", {{"setup.cfg", "[options]\nzip_safe = no\n"}})},
      {"`project.dynamic` leaves `readme` to it",
       project_of("hatchling", "", "dynamic = [\"readme\"]\n")},
      {"its build asks for `Cython`",
       {{"pyproject.toml", replace_all(project_of("setuptools", "").at("pyproject.toml"),
                                       R"(["setuptools"])", R"(["setuptools", "Cython"])")},
        {"my_lab/__init__.py", ""}}},
      {"`tool.hatch.build.hooks` may say otherwise",
       project_of("hatchling", "", "[tool.hatch.build.hooks.custom]\n")},
      {"`tool.hatch.build.targets.wheel.force-include` may say otherwise",
       project_of("hatchling", "",
                  "[tool.hatch.build.targets.wheel.force-include]\n\"a\" = \"b\"\n")},
      {"hatch.toml has settings of its own", project_of("hatchling", "", "", {{"hatch.toml", ""}})},
      {"there is no package `My.Lab`", project_of("hatchling", "lib/")},
      {"there is more than one package `My.Lab`",
       project_of("hatchling", "", "", {{"src/my_lab/__init__.py", ""}})},
      {"`tool.setuptools.ext-modules` may say otherwise",
       project_of("setuptools", "", "[[tool.setuptools.ext-modules]]\nname = \"a\"\n")},
      {"`tool.setuptools.package-dir` names several directories",
       project_of("setuptools", "", "[tool.setuptools.package-dir]\nmy_lab = \"lib\"\n")},
      {"setuptools finds no single package in it",
       project_of("setuptools", "", "", {{"data/a.csv", ""}})},
      {"`plain` has no `__init__.py`",
       project_of("setuptools", "", "[tool.setuptools.packages.find]\n", {{"plain/a.py", ""}})},
      {"`My.Lab.egg-info` is written again",
       project_of("setuptools", "", "[tool.setuptools]\npackages = [\"my_lab\"]\n",
                  {{"My.Lab.egg-info/PKG-INFO", ""}, {".dockerignore", "!*.egg-info\n"}})},
      {"`tool.poetry.build` may say otherwise",
       project_of("poetry-core", "", "[tool.poetry.build]\nscript = \"build.py\"\n")},
      {"pdm_build.py runs", project_of("pdm-backend", "", "", {{"pdm_build.py", ""}})},
      {"`tool.uv.build-backend.namespace` may say otherwise",
       project_of("uv_build", "src/", "[tool.uv.build-backend]\nnamespace = true\n")},
      {"`project.import-names` is not known",
       project_of("hatchling", "", "import-names = [\"my_lab\"]\n")},
      {"`maturin` is not known",
       {{"pyproject.toml",
         "[build-system]\nrequires = [\"setuptools\"]\nbuild-backend = \"maturin\"\n"
         "[project]\nname = \"a\"\nversion = \"1\"\n"}}},
      {"pyproject.toml has no `[project]`",
       {{"pyproject.toml", build_system("poetry-core") + "[tool.poetry]\nname = \"a\"\n"},
        {"a.py", ""}}},
      {"the entry point `run` is not plain",
       project_of("hatchling", "", "scripts.run = \"my_lab\"\n")},
      {"`project.description` is not plain text",
       project_of("hatchling", "", R"(description = "a\nName: b")" + twice("\n"))},
      {"`project.license-files` names `LICENSES/*`",
       project_of("hatchling", "", "license-files = [\"LICENSES/*\"]\n")},
  });
}

TEST_CASE("a version that depends on git's tags requires a build") {
  Files files{{"trainer/__init__.py", ""},
              {"pyproject.toml",
               "[build-system]\nrequires = [\"setuptools\", \"setuptools_scm\"]\n"
               "build-backend = \"setuptools.build_meta\"\n[project]\nname = \"trainer\"\n"
               "dynamic = [\"version\"]\n[tool.setuptools_scm]\n"}};
  CHECK(layout(files) == "its version comes from setuptools-scm");
}

TEST_CASE("the metadata of a package that needs no build") {
  CHECK(metadata("") == "Metadata-Version: 2.1\nName: My.Lab\nVersion: 1.0rc1\n");
  CHECK(metadata("description = \"Grün\"\n"
                 "requires-python = \">=3.9\"\n"
                 "authors = [{name = \"A. B\", email = \"a@b.org\"}, {name = \"C\"}, "
                 "{email = \"d@e.org\"}]\n"
                 "maintainers = [{name = \"M\"}]\n"
                 "keywords = [\"a\", \"b c\"]\n"
                 "classifiers = [\"X :: Y\"]\n"
                 "dependencies = [\"numpy >=1; python_version<'4'\", \"x[y]\"]\n"
                 "optional-dependencies.GPU_x = [\"torch; os_name=='a' or os_name=='b'\", "
                 "\"u @ https://e.org/u-1.zip ; os_name=='a'\"]\n"
                 "urls.Home = \"https://e.org\"\n"
                 "license = {text = \"one\\n\\ntwo\\n\"}\n"
                 "readme = \"README.md\"\n",
                 {{"README.md", "# Lab\n\nText.\n"}}) ==
        "Metadata-Version: 2.1\n"
        "Name: My.Lab\n"
        "Version: 1.0rc1\n"
        "Summary: Grün\n"
        "Author: C\n"
        "Author-email: \"A. B\" <a@b.org>, d@e.org\n"
        "Maintainer: M\n"
        "License: one\n        \n        two\n"
        "Keywords: a,b c\n"
        "Classifier: X :: Y\n"
        "Requires-Python: >=3.9\n"
        "Project-URL: Home, https://e.org\n"
        "Requires-Dist: numpy >=1 ; python_version<'4'\n"
        "Requires-Dist: x[y]\n"
        "Provides-Extra: gpu-x\n"
        "Requires-Dist: torch ; (os_name=='a' or os_name=='b') and extra == 'gpu-x'\n"
        "Requires-Dist: u @ https://e.org/u-1.zip ; (os_name=='a') and extra == 'gpu-x'\n"
        "Description-Content-Type: text/markdown\n"
        "\n# Lab\n\nText.\n");
}

TEST_CASE("licenses and programs of a package that needs no build") {
  const auto installation =
      installation_of(project_of("hatchling", "",
                                 "license = \"MIT\"\nscripts.run = \"my_lab:main\"\n"
                                 "gui-scripts.show = \"my_lab.gui:App.main\"\n"
                                 "entry-points.\"lab.plugins\" = {one = \"my_lab\"}\n",
                                 {{"LICENSE", "Do.\n"}, {"docs/COPYING", ""}, {"NOTICE.md", ""}}));
  REQUIRE_FALSE(installation.reason);
  CHECK(installation.metadata ==
        "Metadata-Version: 2.4\nName: My.Lab\nVersion: 1.0rc1\nLicense-Expression: MIT\n"
        "License-File: LICENSE\nLicense-File: NOTICE.md\n");
  CHECK(installation.licenses == Files{{"LICENSE", "Do.\n"}, {"NOTICE.md", ""}});
  CHECK(installation.entry_points ==
        "[console_scripts]\nrun = my_lab:main\n\n[gui_scripts]\nshow = my_lab.gui:App.main\n\n"
        "[lab.plugins]\none = my_lab\n");
}

TEST_CASE("the inputs of a static installation are recorded") {
  const auto looked = installation_of(project_of("setuptools", "", "readme = \"README.md\"\n",
                                                 {{"README.md", "Text.\n"}}))
                          .looked;
  CHECK(looked.read == std::set<std::string>{"README.md", "pyproject.toml"});
  CHECK(looked.asked.contains("setup.py"));
  CHECK(looked.asked.contains("my_lab/__init__.py"));
  CHECK(looked.listed == std::set<std::string>{""});
}

TEST_CASE("a text that the image lacks leaves the package to its build") {
  const std::string readme = "readme = \"README.md\"\n";
  const std::string missing = "`project.readme`: `README.md` is not a text file of the image";
  CHECK(metadata(readme, {{"README.md", "\xff"}}) == missing);
  CHECK(metadata(readme, {{"README.md", std::string(2'000'000, 'a')}}) == missing);
}

}  // namespace autopack::project_static_installation_test
