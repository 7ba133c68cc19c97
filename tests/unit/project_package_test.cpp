#include "base/text.hpp"
#include "project/ini.hpp"
#include "project/project.hpp"
#include "project/python_tokens.hpp"
#include "project/setup_py.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

using namespace autopack;
using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Files = std::map<std::string, std::string>;
using Strings = std::vector<std::string>;

/// The package of `files`, to which a script is added.
std::optional<Package> package_of(Files files, Problems* warnings = nullptr) {
  files.emplace("run.sh", "");
  auto project = scan(MemoryTree{files}, {.script = "run.sh"});
  if (warnings != nullptr) {
    *warnings = project.warnings;
  }
  return project.package;
}

/// `metadata files | stubs | code | import root | reason for a real installation`.
std::string facts(const Files& files) {
  const auto package = package_of(files);
  if (!package) {
    return "none";
  }
  return join(package->metadata_files, " ") + " | " + join(package->stub_packages, " ") + " | " +
         join(package->code, " ") + " | " + package->import_root + " | " +
         (package->metadata_needs_code ? "(code first) " : "") + package->reason;
}

std::string errors(Files files) {
  files.emplace("run.sh", "");
  try {
    scan(MemoryTree{files}, {.script = "run.sh"});
  } catch (const Error& error) {
    return error.message();
  }
  return "";
}

/// The files of a usual package and `setup` as its setup.py.
Files with_setup(const std::string& setup, Files more = {}) {
  more.merge(Files{{"setup.py", "from setuptools import *\n" + setup},
                   {"trainer/__init__.py", "__version__ = '1'"},
                   {"trainer/task.py", ""},
                   {"trainer/sub/__init__.py", ""}});
  return more;
}

Files with_pyproject(const std::string& text, Files more = {}) {
  more.merge(Files{{"pyproject.toml", text}, {"trainer/__init__.py", ""}, {"trainer/task.py", ""}});
  return more;
}

const std::string flit = "[build-system]\nbuild-backend='flit_core.buildapi'\n";
const std::string hatch =
    "[build-system]\nbuild-backend='hatchling.build'\n[project]\nname='trainer'\n";
const std::string poetry =
    "[build-system]\nbuild-backend='poetry.core.masonry.api'\n[tool.poetry]\nname='trainer'\n";

}  // namespace

TEST_CASE("settings of tools alone make no package") {
  CHECK(facts({}) == "none");
  CHECK(facts({{"pyproject.toml", "[tool.black]\nline-length = 88\n"}}) == "none");
  CHECK(facts({{"setup.cfg", "[flake8]\nmax-line-length = 88\n"}}) == "none");
  CHECK(facts({{"pyproject.toml", ""}}) == "none");
}

TEST_CASE("setup.py tells what it reads and where its packages are") {
  struct Case {
    Files files{};
    std::string expected{};
  };

  const std::string usual = " | trainer trainer/sub | trainer |  | ";
  const std::vector<Case> cases{
      {with_setup("setup(packages=find_packages())"), "setup.py" + usual},
      {with_setup("setup(packages=find_packages(where='.', exclude=['tests']))"),
       "setup.py" + usual},
      {with_setup("setup(packages=['trainer', 'trainer.sub'])"), "setup.py" + usual},
      {with_setup("P = ['trainer',\n 'trainer.sub']\nsetup(packages=P)"), "setup.py" + usual},
      {with_setup("K = {'packages': ['trainer', 'trainer.sub']}\nsetup(**K)"), "setup.py" + usual},
      {with_setup("K = dict(packages=['trainer', 'trainer.sub'])\nsetup(**K)"), "setup.py" + usual},
      {with_setup("setup()"), "setup.py" + usual},
      {with_setup("open('README.md')\nsetup(packages=find_packages())", {{"README.md", ""}}),
       "README.md setup.py" + usual},
      {with_setup("open(os.path.join(here, 'docs', 'a.md'))\nsetup()", {{"docs/a.md", ""}}),
       "docs/a.md setup.py" + usual},
      {with_setup("(HERE / 'docs' / 'a.md').read_text()\nsetup()", {{"docs/a.md", ""}}),
       "docs/a.md setup.py" + usual},
      {with_setup("open(os.path.join(NAME, '_v.py'))\nsetup()", {{"trainer/_v.py", ""}}),
       "setup.py trainer/_v.py" + usual},
      {with_setup("glob('req/*.txt')\nsetup()", {{"req/a.txt", ""}, {"req/b.md", ""}}),
       "req/a.txt setup.py" + usual},
      {with_setup("os.listdir('req')\nsetup()", {{"req/a.txt", ""}, {"req/b.md", ""}}),
       "req/a.txt req/b.md setup.py" + usual},
      {with_setup("# open('README.md')\nsetup()", {{"README.md", ""}}), "setup.py" + usual},
      {with_setup("setup()", {{"LICENSE", ""}, {"MANIFEST.in", ""}, {"NOTICE.md", ""}}),
       "LICENSE MANIFEST.in NOTICE.md setup.py" + usual},
      {with_setup("setup(scripts=['bin/t'])", {{"bin/t", ""}}), "bin/t setup.py" + usual},
      {{{"setup.py", "setup(package_dir={'': 'src'}, packages=find_packages('src'))"},
        {"src/a/__init__.py", ""},
        {"src/a/b/__init__.py", ""}},
       "setup.py | src/a src/a/b | src | src | "},
      {{{"setup.py", "setup(package_dir={'': 'lib'}, packages=['a'])"}, {"lib/a/x.py", ""}},
       "setup.py | lib/a | lib | lib | "},
      {{{"setup.py", "setup(packages=find_namespace_packages())"},
        {"a/b/c.py", ""},
        {"d/e.txt", ""}},
       "setup.py | a a/b | a |  | "},
      {{{"setup.py", "setup(py_modules=['task'])"}, {"task.py", ""}},
       "setup.py |  | task.py |  | "},
      {{{"setup.py", "setup()"}, {"task.py", ""}, {"conftest.py", ""}},
       "setup.py |  | task.py |  | "},
      {{{"setup.py", "setup()"},
        {"a/__init__.py", ""},
        {"b/__init__.py", ""},
        {"tests/__init__.py", ""}},
       "setup.py |  | a b |  | "},
  };
  for (const auto& [files, expected] : cases) {
    CHECK(facts(files) == expected);
  }
}

TEST_CASE("where the short way would be wrong the package is installed for real") {
  struct Case {
    std::string setup{};
    std::string reason{};
  };

  const std::vector<Case> cases{
      {"setup(ext_modules=[Extension('x', ['x.c'])])", "setup.py builds extension modules"},
      {"setup(**{'ext_modules': x})", "setup.py builds extension modules"},
      {"setup(ext_modules=cythonize('x.pyx'))", "setup.py builds extension modules"},
      {"setup(cmdclass={'build_py': X})", "setup.py replaces a build command (cmdclass)"},
      {"setup(data_files=[('etc', ['x'])])", "setup.py installs data files"},
      {"setup(package_dir={'trainer': 'code'})", "setup.py maps the package `trainer` to `code`"},
      {"setup(package_dir=where())", "setup.py computes where its packages are"},
      {"setup(packages=[p for p in find_packages()])", "setup.py computes which packages it has"},
      {"setup(packages=find_packages(where=HERE))", "setup.py computes which packages it has"},
      {"setup(packages=find_packages() + ['x'])", "setup.py computes which packages it has"},
      {"setup(packages=find_packages('code'))",
       "setup.py looks for packages in `code` without package_dir"},
      {"setup(py_modules=mods())", "setup.py computes which modules it has"},
      {"import trainer\nsetup()", "setup.py imports the project's own `trainer`"},
      {"try:\n    from trainer.sub import x\nexcept: pass\nsetup()",
       "setup.py imports the project's own `trainer`"},
      {"if x: import os, trainer as t\nsetup()", "setup.py imports the project's own `trainer`"},
      {"open(f'{NAME}/version.py')\nsetup()", "setup.py computes the name of a file"},
  };
  for (const auto& [setup, reason] : cases) {
    const auto package = package_of(with_setup(setup));
    CHECK(package->needs_install);
    CHECK(package->reason == reason);
  }
  CHECK(package_of(with_setup("import trainer\nsetup()"))->metadata_needs_code);
  CHECK(package_of(with_setup("setup(data_files=[])"))->code == Strings{"."});
  CHECK_FALSE(package_of(with_setup("x = 'import trainer'\nsetup()"))->needs_install);
}

TEST_CASE("setup.cfg and setuptools' tables are followed") {
  const Files package{{"trainer/__init__.py", "import torch\n__version__: str = '1'"},
                      {"trainer/v.py", "V = compute()"},
                      {"README.md", ""}};
  const auto with = [&](const std::string& name, const std::string& text) {
    Files files = package;
    files[name] = text;
    return facts(files);
  };
  CHECK(with("setup.cfg",
             "[metadata]\nname = trainer\nlong_description = file: README.md, GONE.md\n"
             "version = attr: trainer.__version__\n[options]\npackages = find:\n") ==
        "README.md setup.cfg trainer/__init__.py | trainer | trainer |  | ");
  CHECK(with("setup.cfg", "[options]\npackages =\n    trainer\n") ==
        "setup.cfg | trainer | trainer |  | ");
  CHECK(with("setup.cfg", "[metadata]\nversion = attr: trainer.v.V\n") ==
        "setup.cfg | trainer | trainer |  | (code first) setup.cfg [metadata] version takes "
        "`trainer.v.V` from code that runs");
  CHECK(with("setup.cfg", "[metadata]\n[options.data_files]\nx = y\n") ==
        "setup.cfg | trainer | . |  | setup.cfg installs data files");
  CHECK(with("setup.cfg", "[options]\npackage_dir =\n  trainer = lib\n") ==
        "setup.cfg | trainer | . |  | setup.cfg maps the package `trainer` to `lib`");
  CHECK(with("pyproject.toml",
             "[project]\nname='trainer'\nreadme={file='README.md'}\n[tool.setuptools.dynamic]\n"
             "version={attr='trainer.__version__'}\n") ==
        "README.md pyproject.toml trainer/__init__.py | trainer | trainer |  | ");
  CHECK(with("pyproject.toml", "[project]\nname='x'\n[tool.setuptools]\npackages=['trainer']\n") ==
        "pyproject.toml | trainer | trainer |  | ");
  CHECK(with("pyproject.toml", "[project]\nname='x'\n[tool.setuptools.package-dir]\nx='y'\n") ==
        "pyproject.toml | trainer | . |  | pyproject.toml maps the package `x` to `y`");
  CHECK(
      with("pyproject.toml",
           "[project]\nname='x'\n[tool.setuptools.packages.find]\nwhere=['a','b']\n") ==
      "pyproject.toml | trainer | . |  | pyproject.toml looks for packages in several directories");
  const auto alone = package_of({{"setup.cfg", "[metadata]\nname = x\n"}});
  CHECK(alone->needs_pyproject);
  CHECK(alone->name == "x");
  CHECK_FALSE(package_of({{"setup.py", "setup()"}})->needs_pyproject);
}

TEST_CASE("other build backends keep their own rules") {
  struct Case {
    Files files{};
    std::string expected{};
  };

  const std::vector<Case> cases{
      {with_pyproject(flit + "[project]\nname='trainer'\nversion='1'\n"),
       "pyproject.toml | trainer | trainer |  | "},
      {with_pyproject(flit + "[project]\nname='trainer'\ndynamic=['version']\n",
                      {{"trainer/__init__.py", "__version__ = '1'"}}),
       "pyproject.toml trainer/__init__.py | trainer | trainer |  | "},
      {with_pyproject(flit + "[project]\nname='trainer'\ndynamic=['version']\n"),
       "pyproject.toml | trainer | trainer |  | (code first) pyproject.toml takes "
       "`trainer.__version__` from code that runs"},
      {with_pyproject(
           flit + "[project]\nname='x-y'\nversion='1'\n[tool.flit.external-data]\ndirectory='d'\n",
           {{"src/x_y.py", ""}}),
       "pyproject.toml |  | . | src | pyproject.toml installs data files"},
      {with_pyproject(hatch), "pyproject.toml | trainer | trainer |  | "},
      {with_pyproject(hatch + "[tool.hatch.version]\npath='trainer/v.py'\n",
                      {{"trainer/v.py", ""}}),
       "pyproject.toml trainer/v.py | trainer | trainer |  | "},
      {with_pyproject(hatch + "[tool.hatch.version]\nsource='code'\n"),
       "pyproject.toml | trainer | trainer |  | (code first) pyproject.toml takes the version from "
       "code that runs"},
      {with_pyproject(hatch + "[tool.hatch.build.targets.wheel]\npackages=['lib/a']\n",
                      {{"lib/a/x.py", ""}}),
       "pyproject.toml | lib/a | lib | lib | "},
      {with_pyproject(hatch + "[tool.hatch.build.targets.wheel.force-include]\n'a'='b'\n"),
       "pyproject.toml | trainer | . |  | pyproject.toml places files by hatch's `force-include`"},
      {with_pyproject(hatch + "[tool.hatch.build.hooks.custom]\n"),
       "pyproject.toml | trainer | . |  | (code first) pyproject.toml has the hatch build hook "
       "`custom`"},
      {with_pyproject(poetry), "pyproject.toml | trainer | trainer |  | "},
      {with_pyproject(poetry + "packages=[{include='a', from='src'}]\n", {{"src/a/x.py", ""}}),
       "pyproject.toml | src/a | src | src | "},
      {with_pyproject(poetry + "packages=[{include='trainer', to='x'}]\n"),
       "pyproject.toml |  | . |  | pyproject.toml maps packages to other directories"},
      {with_pyproject(poetry + "build='build.py'\n"),
       "pyproject.toml | trainer | . |  | (code first) pyproject.toml has a poetry build script"},
      {with_pyproject("[build-system]\nbuild-backend='pdm.backend'\n[project]\nname='trainer'\n"),
       "pyproject.toml | trainer | trainer |  | "},
      {with_pyproject("[build-system]\nbuild-backend='maturin'\n[project]\nname='trainer'\n"),
       "pyproject.toml | trainer | . |  | (code first) autopack does not know the build backend "
       "`maturin`"},
      {with_pyproject("[build-system]\nbuild-backend='own'\nbackend-path=['tools']\n[project]\n"
                      "name='trainer'\n",
                      {{"tools/own.py", ""}}),
       "pyproject.toml tools/own.py | trainer | . |  | (code first) the project brings its own "
       "build "
       "backend"},
  };
  for (const auto& [files, expected] : cases) {
    CHECK(facts(files) == expected);
  }
}

TEST_CASE("a version from version control is pinned and told") {
  const std::vector<std::pair<Files, std::string>> cases{
      {with_setup("setup(use_scm_version=True)"), "SETUPTOOLS_SCM_PRETEND_VERSION"},
      {with_setup("setup(setup_requires=['pbr'], pbr=True)"), "PBR_VERSION"},
      {with_pyproject("[project]\nname='trainer'\n[tool.setuptools_scm]\n"),
       "SETUPTOOLS_SCM_PRETEND_VERSION"},
      {with_pyproject(hatch + "[tool.hatch.version]\nsource='vcs'\n"),
       "SETUPTOOLS_SCM_PRETEND_VERSION"},
      {with_pyproject("[build-system]\nbuild-backend='pdm.backend'\n[project]\nname='trainer'\n"
                      "[tool.pdm.version]\nsource='scm'\n"),
       "PDM_BUILD_SCM_VERSION"},
  };
  for (const auto& [files, variable] : cases) {
    Problems warnings;
    const auto package = package_of(files, &warnings);
    CHECK(package->build_environment.at(variable) == "0.0.0");
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].message ==
          "the version of the package comes from version control, which is not in the image: there "
          "it is `0.0.0`");
  }
  const auto written = package_of(with_pyproject(
      "[project]\nname='trainer'\n[tool.setuptools_scm]\nwrite_to='trainer/_v.py'\n"));
  CHECK(written->reason == "the build writes `trainer/_v.py`");
}

TEST_CASE("a package that cannot be built is told before it is tried") {
  const std::vector<std::pair<Files, std::string>> cases{
      {with_setup("setup(packages=['trianer'])"),
       "the package directory `trianer` does not exist (setup.py)"},
      {with_setup("setup(py_modules=['gone'])"), "the module `gone.py` does not exist (setup.py)"},
      {with_setup("setup(packages=['trainer'])", {{".dockerignore", "setup.py\n"}}),
       "`setup.py`, which describes the package, is ignored by the rule `setup.py` "
       "(.dockerignore:1)"},
      {with_setup("setup(packages=['trainer'])", {{".dockerignore", "trainer\n"}}),
       "`trainer`, a package of setup.py, is ignored by the rule `trainer` (.dockerignore:1)"},
      {{{"pyproject.toml", "[project]\nname='x'\nreadme='GONE.md'\n"}},
       "`GONE.md` does not exist (pyproject.toml project.readme)"},
      {{{"pyproject.toml", "[project]\nname='x'\nreadme='../R.md'\n"}},
       "`../R.md` leads out of the working directory (pyproject.toml project.readme)"},
      {{{"pyproject.toml", "[project]\nversion='1'\n"}},
       "`project.name` is missing (pyproject.toml)"},
      {{{"pyproject.toml", flit + "[project]\nname='trainre'\nversion='1'\n"},
        {"trainer/x.py", ""}},
       "there is no package `trainre`, neither at the root nor in `src` (pyproject.toml)"},
      {{{"pyproject.toml", poetry}},
       "there is no package `trainer`, neither at the root nor in `src` (pyproject.toml)"},
      {with_pyproject("[build-system]\nbuild-backend='own'\nbackend-path=['..']\n"),
       "the build backend's directory `..` leads out of the working directory (pyproject.toml)"},
  };
  for (const auto& [files, expected] : cases) {
    CHECK(errors(files) == expected);
  }
  CHECK(
      errors({{"pyproject.toml", "[project\nname='x'\n"}}).find("cannot read `pyproject.toml`: ") ==
      0);
  CHECK(errors({{"pyproject.toml", "a=1\n[project]\nname=\n"}}).find("(pyproject.toml:3)") !=
        std::string::npos);
}

TEST_CASE("a poetry table without a build system is told to be unread") {
  Problems warnings;
  const auto package = package_of(with_pyproject("[tool.poetry]\nname='trainer'\n"), &warnings);
  CHECK(package->backend == "setuptools.build_meta:__legacy__");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message ==
        "`[tool.poetry]` is not read: without `[build-system]` pip builds with setuptools");
}

TEST_CASE("ini files are read as configparser does") {
  const Ini ini = parse_ini(
      "\xef\xbb\xbf; comment\n[a]\nKey-One : x = y\nlist =\n  one\n\n  # inside\n  "
      "two\nempty\n[b]\nkey=\n");
  CHECK(find_option(ini, "a", "key-one") == "x = y");
  CHECK(find_option(ini, "a", "list") == "one\ntwo");
  CHECK(find_option(ini, "b", "key") == "");
  CHECK_FALSE(find_option(ini, "b", "list"));
  CHECK_FALSE(find_option(ini, "c", "key"));
}

TEST_CASE("Python is looked at without being run") {
  const auto tokens = tokenize_python("x = r'a\\b' \"c\" # d\n'''e\nf'''; g(\n1)");
  REQUIRE(tokens.size() == 11);
  CHECK(tokens[2].text == "a\\bc");
  CHECK(tokens[4].text == "e\nf");
  CHECK(tokens[6].is_name("g"));
  CHECK(assigns_literal("__version__ = '1'", "__version__"));
  CHECK(assigns_literal("import x\n__version__: str = '1'\n", "__version__"));
  CHECK(assigns_literal("v = (1, 2)", "v"));
  CHECK_FALSE(assigns_literal("v = '.'.join(x)", "v"));
  CHECK_FALSE(assigns_literal("v = f'{x}'", "v"));
  CHECK_FALSE(assigns_literal("def f():\n  v = '1'", "v"));
  CHECK_FALSE(assigns_literal("# v = '1'", "v"));
}

TEST_CASE("no bytes upset the readers of setup.py and of ini files") {
  std::mt19937 random{7};
  const std::string alphabet = "()[]{},=*'\"\\\n#:;%+/. afr0\xff";
  const std::vector<std::string> words{
      "setup(",  "packages=", "find_packages(", "**",          "package_dir=",
      "import ", "'''",       "x = ",           "py_modules=", "dict("};
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (auto i = random() % 80; i > 0; --i) {
      text += random() % 4 == 0 ? words[random() % words.size()]
                                : std::string(1, alphabet[random() % alphabet.size()]);
    }
    const auto setup = read_setup_py(text);
    CHECK(setup.literals.size() <= text.size());
    CHECK(parse_ini(text).size() <= text.size());
  }
}
