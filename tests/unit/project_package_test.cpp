#include "base/file.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"
#include "project/code/python_tokens.hpp"
#include "project/code/setup_py.hpp"
#include "project/project.hpp"
#include "support/memory_tree.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <map>
#include <random>

namespace autopack::project_package_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Files = std::map<std::string, std::string>;
using Strings = std::vector<std::string>;

/// Returns the package of `files`, with a script added.
std::optional<Package> package_of(Files files, Problems* warnings = nullptr) {
  files.emplace("run.sh", "");
  auto project = scan(MemoryTree{files}, {.script = "run.sh"});
  if (warnings != nullptr) {
    *warnings = project.warnings;
  }
  return project.package;
}

/// `files | import root | requirements | build requirements of a build that is not isolated`.
std::string facts(const Files& files) {
  const auto package = package_of(files);
  if (!package) {
    return "none";
  }
  return join(package->files, " ") + " | " + package->import_root + " | " +
         (package->requirements ? join(python::texts_of(*package->requirements), " ") : "?") +
         " | " + (package->isolated ? "" : join(package->build_requirements, " "));
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

/// Returns the files of a usual package with `setup` as its setup.py.
Files with_setup(const std::string& setup, Files more = {}) {
  more.merge(Files{{"setup.py", "from setuptools import *\n" + setup},
                   {"trainer/__init__.py", ""},
                   {"trainer/task.py", ""}});
  return more;
}

Files with_pyproject(const std::string& text, Files more = {}) {
  more.merge(Files{{"pyproject.toml", text}, {"trainer/__init__.py", ""}, {"trainer/task.py", ""}});
  return more;
}

const std::string hatch =
    "[build-system]\nbuild-backend='hatchling.build'\n[project]\nname='trainer'\n";
}  // namespace

TEST_CASE("a setup.py of literals says which files its wheel has") {
  const auto files = [](const std::string& text) {
    return read_setup_py("import os\nfrom setuptools import setup, find_packages\n" + text)
        .certain_files;
  };
  const auto plain = files(
      "setup(name='a', version='1', packages=['a', 'a.b'], package_dir={'': 'src'}, url=URL,\n"
      "      scripts=['bin/x'], py_modules=('c',), package_data={'a': ['*.json']},\n"
      "      include_package_data=True, python_requires='>=3.7',\n"
      "      entry_points={'console_scripts': ['y = a:main']})\n");
  REQUIRE(plain);
  CHECK(plain->packages == std::vector<std::string>{"a", "a.b"});
  CHECK(plain->root == "src");
  CHECK(plain->scripts == std::vector<std::string>{"bin/x"});
  CHECK(plain->modules == std::vector<std::string>{"c"});
  CHECK(plain->data.at("a") == std::vector<std::string>{"*.json"});
  CHECK(plain->has_listed_data);
  CHECK(plain->requires_python == ">=3.7");
  CHECK(plain->entry_points == "[console_scripts]\ny = a:main\n\n");
  const std::string find = "setup(packages=find_packages(exclude=('tests',)))\n";
  const std::string opens{
      "here = os.path.dirname(__file__)\nwith open(os.path.join(here, 'README')) as f:\n    text = "
      "f.read()\n"};
  const std::string defines{
      "def read(name):\n    return open(name, 'r').read()\ntext = read('x')\n"};
  const std::string executes{
      "about = {}\nexec(open('a/version.py').read(), about)\nabout['x'] = 1\n"};
  const std::string uploads{
      "class Upload(Command):\n    def run(self):\n        os.system('rm -rf dist')\n"};
  for (const auto& before : std::vector<std::string>{"", opens, defines, executes, uploads}) {
    CAPTURE(before);
    const auto found = files(before + find);
    REQUIRE(found);
    CHECK(found->search->exclude == std::vector<std::string>{"tests"});
  }
  CHECK_FALSE(files("setup(packages=['a'], version=v)\n")->version);
  CHECK(files("class A(B):\n    x()\nclass C(D):\n    y()\nsetup(packages=['a'])\n"));
  std::string nested;
  for (int i = 0; i < 30'000; ++i) {
    nested += "open(";
  }
  CHECK_FALSE(files("x = " + nested + "\n" + find));
  CHECK(files("packages = ['a']\nsetup(packages=packages)\n"));
  CHECK(files("setup(packages=['a'], cmdclass={'upload': Upload})\n"));
  for (const auto& text : std::vector<std::string>{
           "os.remove('a.py')\n" + find, "open('a.py', 'w')\n" + find, "raise Error\n" + find,
           "os.environ['X'] = '1'\n" + find, "setuptools.x = 1\n" + find,
           "def find_packages(exclude):\n    pass\n" + find, std::string{"setup(name='a')\n"},
           std::string{"setup(packages=['a'], ext_modules=[])\n"},
           std::string{"setup(packages=['a'], cmdclass={'build_py': Build})\n"},
           std::string{"setup(packages=['a'], setup_requires=['cython'])\n"},
           std::string{"setup(packages=['a'], package_dir={'a': 'lib'})\n"},
           std::string{"setup(packages=['a'], package_data={'a': globs()})\n"},
           std::string{"setup(packages=['a'], data_files=[('etc', ['x'])])\n"},
           std::string{"setup(packages=find_packages(exclude='tests'))\n"},
           std::string{"setup(packages=find_packages(exclude=('tests')))\n"},
           std::string{"packages = ['a']\nexec(open('x').read())\nsetup(packages=packages)\n"},
           std::string{"packages = ['a']\npackages += ['b']\nsetup(packages=packages)\n"},
           std::string{"setup(packages=['a'], install_requires=read())\n"}}) {
    CAPTURE(text);
    CHECK_FALSE(files(text));
  }
}

TEST_CASE("only a plain setup() says for certain what a package requires") {
  const auto certain = [](const std::string& text) {
    const auto found = read_setup_py("from setuptools import setup\n" + text).certain_requirements;
    std::string all = found ? "" : "unknown";
    for (const auto& one : found.value_or(std::vector<std::string>{})) {
      all += one + "|";
    }
    return all;
  };
  CHECK(certain("setup(name='a', version=v)\n").empty());
  CHECK(certain("setup(install_requires=['b>=1', \"typing; python_version<'3.5'\"])\n") ==
        "b>=1|typing; python_version<'3.5'|");
  CHECK(certain("needs = ['b']\nsetup(install_requires=needs)\n") == "b|");
  CHECK(certain(
            "setup(install_requires=['b'], extras_require={'x': ['c', \"d; os_name=='nt'\"]})\n") ==
        "b|c; extra == 'x'|d; (os_name=='nt') and extra == 'x'|");
  const std::vector<std::string> texts{
      "needs = ['b']\nneeds.append('c')\nsetup(install_requires=needs)\n",
      "setup(install_requires=['b'] + more)\n",
      "setup(install_requires=read('r.txt'))\n",
      "setup(install_requires=['b', other])\n",
      "setup(install_requires=[f'b=={v}'])\n",
      "setup(**settings)\n",
      "if x:\n    setup(install_requires=['b'])\n",
      "setup(install_requires=['b'])\nsetup(install_requires=['c'])\n",
      "setup(install_requires=['b'], extras_require=extras())\n",
      "setup(install_requires=['b'] if x else [])\n",
      "def setup(install_requires):\n    pass\nsetup(install_requires=['b'])\n",
      "print('no call')\n"};
  for (const auto& text : texts) {
    CAPTURE(text);
    CHECK(certain(text) == "unknown");
  }
}

TEST_CASE("settings of tools alone make no package") {
  CHECK(facts({}) == "none");
  CHECK(facts({{"pyproject.toml", "[tool.black]\nline-length = 88\n"}}) == "none");
  CHECK(facts({{"setup.cfg", "[flake8]\nmax-line-length = 88\n"}}) == "none");
  CHECK(facts({{"pyproject.toml", ""}}) == "none");
}

TEST_CASE("where a package's modules are") {
  const std::vector<std::pair<Files, std::string>> cases{
      {with_setup("setup(packages=find_packages())"), ""},
      {with_setup("setup()", {{"src/a/__init__.py", ""}}), "src"},
      {with_setup("setup()", {{"src/__init__.py", ""}}), ""},
      {with_setup("D = {'': 'lib'}\nsetup(package_dir=D)"), "lib"},
      {with_setup("setup()", {{"setup.cfg", "[options]\npackage_dir =\n  = code\n"}}), "code"},
      {with_pyproject("[project]\nname='a'\n[tool.setuptools.package-dir]\n''='lib'\n"), "lib"},
      {with_pyproject("[project]\nname='a'\n[tool.setuptools.packages.find]\nwhere=['lib']\n"),
       "lib"},
      {with_pyproject(hatch + "[tool.hatch.build.targets.wheel]\npackages=['python/a']\n"),
       "python"},
  };
  for (const auto& [files, expected] : cases) {
    CHECK(package_of(files)->import_root == expected);
  }
}

TEST_CASE("static requirements of a package are read from pyproject.toml") {
  CHECK(facts(with_setup("setup(install_requires=['numpy'])")) == "setup.py |  | ? | ");
  CHECK(facts(with_pyproject(hatch)) == "pyproject.toml |  |  | ");
  CHECK(facts(with_pyproject(hatch + "dependencies=['numpy>=2', 'x[y]']\n")) ==
        "pyproject.toml |  | numpy>=2 x[y] | ");
  CHECK(facts(with_pyproject(hatch + "dynamic=['dependencies']\n")) == "pyproject.toml |  | ? | ");
  const auto package = package_of(
      with_pyproject(hatch + "[project.optional-dependencies]\nGPU_x=['cupy', 'trainer[io]']\n"));
  CHECK(python::texts_of(package->extra_requirements.at("gpu-x")) ==
        Strings{"cupy", "trainer[io]"});
}

TEST_CASE("a build sees what is installed when setup.py imports what it does not ask for") {
  const auto build = [](const std::string& setup, Files more = {}) {
    const auto package = package_of(with_setup(setup, std::move(more)));
    return package->isolated ? "isolated" : join(package->build_requirements, " ");
  };
  CHECK(build("import os, re\nsetup()") == "isolated");
  CHECK(build("import versioneer\nsetup()", {{"versioneer.py", ""}}) == "isolated");
  CHECK(build("from trainer import x\nsetup()") == "isolated");
  CHECK(build("import numpy as np\nsetup()") == "setuptools wheel numpy");
  CHECK(build("from torch.utils.cpp_extension import CUDAExtension\nsetup()") ==
        "setuptools wheel torch");
  CHECK(build("try:\n  import torch\nexcept ImportError:\n  torch = None\nsetup()") ==
        "setuptools wheel");
  CHECK(build("import something_else\nsetup()") == "setuptools wheel");
  CHECK(build("import numpy\nsetup()",
              {{"pyproject.toml", "[build-system]\nrequires=['setuptools', 'numpy']\n"}}) ==
        "isolated");
  CHECK(build("import numpy\nsetup()",
              {{"pyproject.toml", "[build-system]\nrequires=['setuptools>=61']\n"}}) ==
        "setuptools>=61 numpy");
}

TEST_CASE("a project that is not a package is not installed") {
  const auto installs = [](const std::string& text, Files more = {}) {
    return package_of(with_pyproject(text, std::move(more)))->installs;
  };
  const std::string poetry =
      "[build-system]\nbuild-backend='poetry.core.masonry.api'\n[tool.poetry]\n";
  const std::string project = "[project]\nname='a'\ndependencies=['numpy']\n";
  CHECK(installs(poetry + "name='trainer'\n"));
  CHECK_FALSE(installs(poetry + "package-mode=false\n", {{"requirements.txt", ""}}));
  CHECK_FALSE(installs(project + "[build-system]\nrequires=[]\n[tool.uv]\npackage=false\n"));
  CHECK_FALSE(installs(project + "[tool.pdm]\ndistribution=false\n"));
  CHECK(installs(project));
  CHECK_FALSE(installs(project, {{"uv.lock", ""}}));
  CHECK_FALSE(installs(project, {{"other/__init__.py", ""}}));
  CHECK(installs(project + "[tool.setuptools]\npackages=['trainer', 'other']\n",
                 {{"other/__init__.py", ""}}));
  CHECK(installs(project, {{"other/__init__.py", ""}, {"setup.py", "setup()"}}));
  Problems warnings;
  package_of(with_pyproject("[build-system]\nrequires=[]\n[tool.uv]\npackage=false\n"), &warnings);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message ==
        "the project's dependencies are not installed: `tool.uv.package` is false, and only its "
        "tool knows what that is");
}

TEST_CASE("a package without a name is not what a variable names") {
  const auto project = scan(MemoryTree{{"run.sh", ""},
                                       {"setup.py", "import setuptools\nsetuptools.setup()\n"},
                                       {"requirements.txt", "${THING}\n"}},
                            {.script = "run.sh"});
  REQUIRE(project.package);
  CHECK_FALSE(project.package->name);
  CHECK(project.normalised_requirements == Strings{"${THING}"});
}

TEST_CASE("sources of uv are passed to pip") {
  const std::string project =
      "[project]\nname='a'\ndependencies=['lib>=1', 'b[c]; python_version > \"3\"', 'd', 'e']\n";
  const std::string sources =
      "[tool.uv.sources]\nlib={workspace=true}\nb={git='https://host/b', rev='f00'}\n"
      "d={index='own'}\n[tool.uv.workspace]\nmembers=['libs/*']\n"
      "[build-system]\nrequires=['setuptools']\n[tool.setuptools]\npackages=['trainer']\n";
  Problems warnings;
  const auto package = package_of(
      with_pyproject(project + sources, {{"libs/one/pyproject.toml", "[project]\nname='Lib'\n"}}),
      &warnings);
  CHECK(package->members == Strings{"libs/one"});
  CHECK(join(python::texts_of(*package->requirements), ", ") ==
        "b[c] @ git+https://host/b@f00 ; python_version > \"3\", d, e");
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message == "autopack does not read that `d` comes from the index `own`");
  CHECK(errors(with_pyproject(project + "[tool.uv.sources]\nlib={path='../lib'}\n")) ==
        "`lib` comes from `../lib`, which is not below the working directory (pyproject.toml "
        "tool.uv.sources)");
}

TEST_CASE("a workspace member that the root needs is installed if the root is not a package") {
  const Files files{
      {"pyproject.toml",
       "[project]\nname='root'\nversion='0'\ndependencies=['wtrain[gpu]','tqdm']\n"
       "[tool.uv.workspace]\nmembers=['packages/*']\n"
       "[tool.uv.sources]\nwtrain={workspace=true}\nwutil={workspace=true}\n"},
      {"packages/wtrain/pyproject.toml",
       "[project]\nname='wtrain'\ndependencies=['wutil','six']\n"
       "[project.optional-dependencies]\ngpu=['wgpu']\n"
       "[tool.uv.sources]\nwgpu={workspace=true}\n"},
      {"packages/wtrain/src/wtrain/main.py", "print(1)\n"},
      {"packages/wutil/pyproject.toml",
       "[project]\nname='wutil'\ndependencies=['wtrain','wplain','far']\n"
       "[tool.uv.sources]\nfar={git='https://host/far'}\nwplain={path='../plain',package=false}\n"},
      {"packages/wgpu/pyproject.toml", "[project]\nname='wgpu'\n"},
      {"packages/plain/pyproject.toml", "[project]\nname='wplain'\ndependencies=['einops']\n"},
      {"packages/other/pyproject.toml", "[project]\nname='other'\n"}};
  Problems warnings;
  const auto package = package_of(files, &warnings);
  REQUIRE(package);
  CHECK_FALSE(package->installs);
  CHECK(package->members == Strings{"packages/wgpu", "packages/wtrain[gpu]", "packages/wutil"});
  CHECK(join(python::texts_of(*package->requirements), ", ") ==
        "einops, far @ git+https://host/far, tqdm");
  CHECK(warnings.empty());
  auto more = files;
  more["run.sh"] = "";
  const auto project = scan(MemoryTree{more}, {.module = "wtrain.main"});
  CHECK(project.entry.kind == EntryKind::installed_module);
}

TEST_CASE("a source outside of the directory is satisfied by --extra-packages") {
  const TemporaryDirectory place;
  std::filesystem::create_directories(place.path() / "libs/common");
  std::filesystem::create_directories(place.path() / "apps/one");
  write_file(place.path() / "pyproject.toml", "[tool.uv.workspace]\nmembers=['apps/*']\n");
  const auto found = [&](const std::string& source, std::vector<std::string> extras) {
    const MemoryTree tree{{"run.sh", ""},
                          {"pyproject.toml",
                           "[project]\nname='one'\ndependencies=['common>=1']\n"
                           "[tool.uv.sources]\ncommon=" +
                               source + "\n"}};
    try {
      const auto project = scan(tree, {.directory = place.path() / "apps/one",
                                       .script = "run.sh",
                                       .extra_packages = std::move(extras)});
      return join(python::texts_of(*project.package->requirements), ",");
    } catch (const Error& error) {
      std::string text;
      for (const auto& problem : error.problems()) {
        text += problem.message + join(problem.hints, " | ");
      }
      return text.empty() ? error.message() + join(error.hints(), " | ") : text;
    }
  };
  const std::string local = "{path='../../libs/common', editable=true}";
  write_file(place.path() / "libs/common/setup.py", "");
  CHECK(found(local, {"../../libs/common/"}) == "common>=1");
  CHECK(found(local, {}).ends_with("--extra-packages=../../libs/common"));
  CHECK(
      found("{workspace=true}", {})
          .ends_with("`-C ../..` packages the workspace, with the program by its path from there"));
}

TEST_CASE("settings of uv that choose versions are read, and those of the machine are not") {
  const auto settings_of = [](const std::string& text) {
    return scan(MemoryTree{{"pyproject.toml",
                            "[project]\nname='a'\ndependencies=['torch>=2.4', 'b']\n" + text},
                           {"run.sh", ""}},
                {.script = "run.sh"});
  };
  const auto project = settings_of(
      "[tool.uv]\noverride-dependencies=['numpy<2']\nconstraint-dependencies=['b<9']\n"
      "prerelease='allow'\ncache-dir='/x'\npython-preference='system'\n"
      "[tool.uv.sources]\nTorch={index='pt'}\nb=[{index='house', marker=\"os_name == 'posix'\"},"
      "{git='https://host/b', rev='f00', marker=\"os_name == 'nt'\"}]\n"
      "[[tool.uv.index]]\nname='pt'\nurl='https://host/whl'\nexplicit=true\n"
      "[[tool.uv.index]]\nname='house'\nurl='https://host/simple'\n"
      "[[tool.uv.index]]\nname='unused'\nurl='https://host/unused'\nexplicit=true\n"
      "[[tool.uv.index]]\nname='files'\nurl='file:///etc'\n"
      "[[tool.uv.index]]\nname='login'\nurl='https://u:secret@host/'\n");
  const auto& uv = project.uv;
  REQUIRE(uv.indexes.size() == 2);
  CHECK(uv.indexes[0] ==
        project::UvIndex{.name = "pt", .url = "https://host/whl", .is_explicit = true});
  CHECK(uv.indexes[1] == project::UvIndex{.name = "house", .url = "https://host/simple"});
  CHECK(uv.sources.at("torch") == "[{ index = \"pt\" }]");
  CHECK(
      uv.sources.at("b") ==
      "[{ index = \"house\", marker = \"os_name == 'posix'\" }, { git = \"https://host/b\", rev = "
      "\"f00\", marker = \"os_name == 'nt'\" }]");
  CHECK(uv.options ==
        "prerelease = \"allow\"\noverride-dependencies = [\"numpy<2\"]\nconstraint-dependencies = "
        "[\"b<9\"]\n");
  CHECK(uv.overridden == std::set<std::string>{"numpy"});
  std::vector<std::string> messages;
  for (const auto& problem : project.unread_by_pip) {
    messages.push_back(problem.message);
  }
  CHECK(messages == Strings{"pip does not read that `b` comes from the index `house`",
                            "pip does not read that `torch` comes from the index `pt`",
                            "pip does not read which versions `[tool.uv]` chooses"});
  REQUIRE(project.warnings.size() == 1);
  CHECK(project.warnings[0].message ==
        "autopack does not read the indexes `file:///etc`, `https://***@host/`, so nothing comes "
        "from there");
  const auto with_default = settings_of(
      "[tool.uv]\nindex-url='https://host/one'\nextra-index-url=['https://host/two']\n"
      "index-strategy='first-index'\n[[tool.uv.index]]\nurl='https://host/page'\nformat='flat'\n");
  REQUIRE(with_default.uv.indexes.size() == 3);
  CHECK(with_default.uv.indexes[0].is_flat);
  CHECK(with_default.uv.indexes[1].url == "https://host/two");
  CHECK(with_default.uv.indexes[2].is_default);
  CHECK(with_default.uv.chooses_strategy);
  CHECK(settings_of("").uv.empty());
  const auto of_extra = settings_of(
      "[tool.uv.sources]\ntorch=[{index='pt', extra='cpu'}, {index='gpu', group='cuda'}]\n"
      "[[tool.uv.index]]\nname='pt'\nurl='https://host/whl'\nexplicit=true\n");
  CHECK(of_extra.uv.empty());
  CHECK(of_extra.warnings.empty());
  CHECK(settings_of("[tool.uv.sources]\nb={git='https://host/b'}\n").uv.empty());
}

TEST_CASE("indexes that only the project's own tool asks are reported") {
  const std::string torch = "[project]\nname='a'\ndependencies=['torch>=2.4']\n";
  const std::string index = "[[tool.uv.index]]\nname='pt'\nurl='https://u:secret@host/whl'\n";
  const auto told = [&](const std::string& text, Files more = {}, const UserPip& pip = {}) {
    more["pyproject.toml"] = torch + text;
    more["run.sh"] = "";
    std::string all;
    for (const auto& warning : scan(MemoryTree{more}, {.script = "run.sh", .pip = pip}).warnings) {
      all += warning.message + " [" + join(warning.hints, "|") + "]";
    }
    return all;
  };
  const std::string of_list =
      "[tool.uv.sources]\ntorch=[{index='pt', marker=\"sys_platform == 'linux'\"}]\n";
  CHECK(told(of_list + index + "explicit=true\n") ==
        "autopack does not read that `torch` comes from the index `pt` [name the index in "
        "requirements.txt: `--extra-index-url https://***@host/whl`]");
  CHECK(told(of_list + index) == told(of_list + index + "explicit=true\n"));
  CHECK(told("[tool.uv.sources]\ntorch={index='ptt'}\n" + index + "explicit=true\n") ==
        "autopack does not read that `torch` comes from the index `ptt` [did you mean `pt`?]");
  CHECK(told(index) ==
        "autopack does not read the index `https://***@host/whl`, so nothing comes "
        "from there [export PIP_EXTRA_INDEX_URL='https://***@host/whl']");
  CHECK(told("[tool.uv]\nextra-index-url=['https://host/whl']\n").empty());  // uv gets it
  CHECK(told(index, {}, {.indexes = {"https://host/whl/"}}).empty());
  CHECK(told(index, {{"requirements.txt", "--extra-index-url https://host/whl\n"}}).empty());
  CHECK(told("[[tool.uv.index]]\nname='pypi'\nurl='https://mirror/simple'\n").empty());
  // A lock has resolved them all.
  CHECK(told(of_list + index, {{"uv.lock", "version = 1\n"}}).empty());
}

TEST_CASE("several packages at the root leave the dependencies to be installed") {
  const std::string text =
      "[build-system]\nrequires=['setuptools']\nbuild-backend='setuptools.build_meta'\n"
      "[project]\nname='a'\nversion='1'\ndependencies=['six']\n";
  Problems warnings;
  const auto installs = [&](const std::string& more, Files files) {
    files["pyproject.toml"] = text + more;
    return package_of(std::move(files), &warnings)->installs;
  };
  const Files two{{"models/__init__.py", ""}, {"conf/a.yaml", ""}, {"train.py", ""}};
  CHECK_FALSE(installs("", two));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message ==
        "only the project's dependencies are installed, not its own package: setuptools refuses "
        "several "
        "top-level packages or modules, `conf`, `models`");
  CHECK_FALSE(installs("", {{"train.py", ""}, {"model.py", ""}}));
  CHECK(installs("[tool.setuptools]\npy-modules=[]\n", two));
  CHECK(warnings.empty());
  CHECK(installs("", {{"models/__init__.py", ""}, {"tests/a.py", ""}, {"data/a.csv", ""}}));
  CHECK(installs("", {{"models/__init__.py", ""}, {"src/a/b.py", ""}}));
}

TEST_CASE("a byte order mark in pyproject.toml is an error where pip reads it") {
  const std::string text = "\xEF\xBB\xBF[project]\nname='a'\nversion='1'\n";
  CHECK(errors(with_pyproject(text + "[build-system]\nrequires=['setuptools']\n")) ==
        "pip cannot read `pyproject.toml`: it begins with a byte order mark (pyproject.toml:1)");
  CHECK(errors(with_pyproject(text + "[tool.uv]\n")).empty());
}

TEST_CASE("a virtual project of Rye is not installed, and its lock is reported") {
  Problems warnings;
  const auto package = package_of(
      with_pyproject("[project]\nname='a'\ndependencies=['einops']\n[build-system]\n"
                     "requires=['hatchling']\nbuild-backend='hatchling.build'\n[tool.rye]\n"
                     "virtual=true\n",
                     {{"requirements.lock", "einops==0.7\n"}}),
      &warnings);
  CHECK_FALSE(package->installs);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].message.starts_with("`requirements.lock` is there, but nothing of it"));
  CHECK(warnings[0].hints == Strings{"--requirements-file=requirements.lock"});
}

TEST_CASE("a package that cannot be built is reported before the build") {
  const std::vector<std::pair<Files, std::string>> cases{
      {with_setup("setup(packages=['trainer'])", {{".dockerignore", "setup.py\n"}}),
       "`setup.py`, which describes the package, is ignored by the rule `setup.py` "
       "(.dockerignore:1)"},
      {{{"pyproject.toml", "[project]\nname='x'\nreadme='GONE.md'\n"}},
       "`GONE.md` does not exist (pyproject.toml project.readme)"},
      {{{"pyproject.toml", "[project]\nname='x'\nreadme='../R.md'\n"}},
       "`../R.md` does not exist (pyproject.toml project.readme)"},
      {{{"pyproject.toml", "[project]\nversion='1'\n"}},
       "`project.name` is missing (pyproject.toml)"},
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

TEST_CASE("dependencies of Poetry are read if it has no package to install") {
  const std::string head = "[tool.poetry]\nname='lab'\npackage-mode=false\n";
  const auto requirements = [&](const std::string& entries) {
    Problems warnings;
    const auto package = package_of(
        with_pyproject(head + "[tool.poetry.dependencies]\npython='^3.10'\n" + entries), &warnings);
    CHECK_FALSE(package->installs);
    return join(python::texts_of(*package->requirements), "|") +
           (warnings.empty() ? "" : " [" + warnings[0].message + "]");
  };
  CHECK(requirements("rich='^13.2'\n") == "rich>=13.2,<14");
  CHECK(requirements("a='*'\nb='~1.2'\nc='1.4'\nd='>=1,<3'\ne='2.*'\n") ==
        "a|b>=1.2,<1.3|c==1.4|d>=1,<3|e==2.*");
  CHECK(requirements("a='^0.2.3'\n") == "a>=0.2.3,<0.3");
  CHECK(requirements("a='^1.20 || ^2.0'\n") == "a>=1.20,<3");
  CHECK(requirements("a={version='^1', extras=['x','y'], markers=\"os_name=='posix'\"}\n") ==
        "a[x,y]>=1,<2 ; (os_name=='posix')");
  CHECK(requirements("a={version='1', python='^3.8', platform='linux'}\n") ==
        "a==1 ; python_version >= '3.8' and python_version < '4' and sys_platform == 'linux'");
  CHECK(requirements("a=[{version='1', python='<3.9'},{version='2', python='>=3.9'}]\n") ==
        "a==1 ; python_version < '3.9'|a==2 ; python_version >= '3.9'");
  CHECK(requirements("a={git='https://host/a.git', tag='v1', extras=['x']}\n") ==
        "a[x] @ git+https://host/a.git@v1");
  CHECK(requirements("a={url='https://host/a-1-py3-none-any.whl'}\n") ==
        "a @ https://host/a-1-py3-none-any.whl");
  CHECK(requirements("torch={version='2.1', source='own'}\n[[tool.poetry.source]]\nname='own'\n"
                     "url='https://host/whl'\npriority='explicit'\n") == "torch==2.1");
  const auto extras =
      package_of(with_pyproject(
          head + "[tool.poetry.dependencies]\nnumpy={version='1', optional=true}\nrich='13'\n"
                 "[tool.poetry.extras]\nNum_All=['NumPy']\n"));
  CHECK(join(python::texts_of(*extras->requirements), "|") == "rich==13");
  CHECK(join(python::texts_of(extras->extra_requirements.at("num-all")), "|") == "numpy==1");
  const auto wrong = [&](const std::string& entry) {
    return errors(with_pyproject(head + "[tool.poetry.dependencies]\n" + entry));
  };
  CHECK(wrong("a='^1 || ^3'\n")
            .find("cannot read the dependency `a`: `^1 || ^3` is more than one "
                  "range of versions (pyproject.toml tool.poetry.dependencies)") == 0);
  CHECK(wrong("a='latest'\n").find("cannot read the dependency `a`: `latest` is no constraint") ==
        0);
  CHECK(wrong("a=1\n").find("it is neither a version nor a table") != std::string::npos);
}

TEST_CASE("Poetry installs no package if it finds none") {
  const std::string poetry =
      "[build-system]\nrequires=['poetry-core']\nbuild-backend='poetry.core.masonry.api'\n"
      "[tool.poetry]\nname='My-Lab'\n[tool.poetry.dependencies]\nrich='13'\n";
  CHECK_FALSE(package_of(with_pyproject(poetry))->installs);
  CHECK(package_of(with_pyproject(poetry))->requirements->size() == 1);
  CHECK(package_of(with_pyproject(poetry, {{"my_lab/a.py", ""}}))->installs);
  CHECK(package_of(with_pyproject(poetry, {{"src/my_lab/a.py", ""}}))->installs);
  CHECK(package_of(with_pyproject(poetry, {{"my_lab.py", ""}}))->installs);
  // Without a build system, only Poetry knows the table.
  Problems warnings;
  const auto package = package_of(
      with_pyproject("[tool.poetry]\nname='trainer'\n[tool.poetry.dependencies]\nrich='13'\n"),
      &warnings);
  CHECK_FALSE(package->installs);
  CHECK(package->requirements->size() == 1);
  CHECK(warnings.empty());
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
}

TEST_CASE("arguments of setup() in a setup.py are read once") {
  CHECK(read_setup_py("setup(name='a', cmdclass=setup(name='b'))").name == "a");
  std::string text;
  for (int i = 0; i < 50'000; ++i) {
    text += "setup(";
  }
  CHECK_FALSE(read_setup_py(text).name);
  text = "a = {'name': 'n'}\nsetup(**a";
  for (int i = 0; i < 20'000; ++i) {
    text += ", **a";
  }
  CHECK(read_setup_py(text + ")").name == "n");
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

}  // namespace autopack::project_package_test
