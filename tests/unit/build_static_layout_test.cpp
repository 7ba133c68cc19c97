#include "base/error.hpp"
#include "base/file.hpp"
#include "build/wheels/static_layout.hpp"
#include "build/wheels/static_source.hpp"
#include "support/temporary_directory.hpp"
#include "wheel/wheel.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <string_view>

namespace autopack::build {

namespace {

const std::string info = "Metadata-Version: 1.1\nName: lab\nVersion: 1.0\n";

StaticWheel wheel_of(const std::string& arguments, SourceFiles files) {
  files.emplace("PKG-INFO", info);
  const auto setup = project::read_setup_py("from setuptools import setup, find_packages\nsetup(" +
                                            arguments + ")\n");
  REQUIRE(setup.certain_files);
  return lay_out(setup, files);
}

/// Returns the files of a wheel by their names, without RECORD and WHEEL.
std::map<std::string, std::string> files_of(const StaticWheel& wheel) {
  const TemporaryDirectory folder;
  write_file(folder.path() / "wheel", wheel.bytes);
  const auto opened = wheel::Wheel::open(folder.path() / "wheel", wheel.name);
  CHECK(opened.warnings().empty());
  std::map<std::string, std::string> files;
  for (const auto& member : opened.zip().members()) {
    if (!member.name.ends_with("/RECORD") && !member.name.ends_with("/WHEEL")) {
      files[member.name];
      opened.read(member, [&](std::string_view bytes) { files[member.name] += bytes; });
    }
  }
  return files;
}

std::string names_of(const StaticWheel& wheel) {
  std::string names;
  for (const auto& [name, text] : files_of(wheel)) {
    if (name.find(".dist-info/") == std::string::npos) {
      names += (names.empty() ? "" : " ") + name;
    }
  }
  return names;
}

}  // namespace

TEST_CASE("packages, modules, data and scripts of a source distribution are laid out") {
  const SourceFiles files{{"setup.py", ""},
                          {"lab/__init__.py", "import os\n"},
                          {"lab/notes.txt", ""},
                          {"lab/core/__init__.py", ""},
                          {"lab/core/run.py", ""},
                          {"lab/core/data/deep/a.json", ""},
                          {"lab/core/data/.hidden.json", ""},
                          {"lab/plain/no_package.py", ""},
                          {"tests/__init__.py", ""},
                          {"tests/test_lab.py", ""},
                          {"extra.py", ""},
                          {"bin/start", "#!/usr/bin/env python3 -u\nprint(1)\n"},
                          {"bin/shell", "#!/bin/sh\n"},
                          {"LICENSE.txt", "MIT"}};
  CHECK(names_of(wheel_of("packages=['lab']", files)) == "lab/__init__.py");
  CHECK(names_of(wheel_of("packages=find_packages(exclude=['tests'])", files)) ==
        "lab/__init__.py lab/core/__init__.py lab/core/run.py");
  CHECK(names_of(wheel_of("packages=find_packages(include=['lab*'], exclude=['lab.*'])", files)) ==
        "lab/__init__.py");
  CHECK(names_of(wheel_of("py_modules=['extra'], packages=[]", files)) == "extra.py");
  CHECK(names_of(wheel_of("packages=['lab.core'], package_data={'lab.core': ['data/**/*.json']}",
                          files)) ==
        "lab/core/__init__.py lab/core/data/deep/a.json lab/core/run.py");
  CHECK(names_of(wheel_of("packages=['lab'], package_data={'': ['*.txt']}", files)) ==
        "lab/__init__.py lab/notes.txt");
  const auto wheel = wheel_of("packages=['lab'], scripts=['bin/start', 'bin/shell']", files);
  const auto made = files_of(wheel);
  CHECK(wheel.name == "lab-1.0-py3-none-any.whl");
  CHECK(made.at("lab-1.0.data/scripts/start") == "#!python -u\nprint(1)\n");
  CHECK(made.at("lab-1.0.data/scripts/shell") == "#!/bin/sh\n");
  CHECK(made.at("lab-1.0.dist-info/licenses/LICENSE.txt") == "MIT");
  CHECK(made.at("lab-1.0.dist-info/top_level.txt") == "lab\n");
}

TEST_CASE("a directory of sources with a plain setup.py is laid out") {
  const auto with_setup = [](const std::string& arguments, SourceFiles more = {}) {
    more["setup.py"] =
        "from setuptools import setup\nsetup(name='lab', py_modules=['lab'], " + arguments + ")\n";
    more["lab.py"] = "";
    return static_wheel(std::move(more));
  };
  const auto wheel = with_setup("version='1.5', install_requires=['numpy>=1']");
  REQUIRE(wheel);
  CHECK(wheel->name == "lab-1.5-py3-none-any.whl");
  CHECK(names_of(*wheel) == "lab.py");
  CHECK(files_of(*wheel).at("lab-1.5.dist-info/METADATA") ==
        "Metadata-Version: 2.1\nName: lab\nVersion: 1.5\nRequires-Dist: numpy>=1\n");
  CHECK_FALSE(with_setup("version=open('v').read()"));
  CHECK_FALSE(with_setup("url='x'"));  // no version
  CHECK_FALSE(with_setup("version='1'", {{"pyproject.toml", "[project]\nname = 'lab'\n"}}));
  // MANIFEST.in selects data files, and so does the list of an earlier build.
  const std::string data = "version='1', include_package_data=True";
  CHECK(with_setup(data));
  CHECK_FALSE(with_setup(data, {{"MANIFEST.in", ""}}));
  CHECK_FALSE(with_setup(data, {{"lab.egg-info/SOURCES.txt", ""}}));
  CHECK(with_setup("version='1'", {{"MANIFEST.in", ""}}));
}

TEST_CASE("include_package_data takes the data that the source lists") {
  SourceFiles files{{"src/lab/__init__.py", ""},      {"src/lab/a.json", ""},
                    {"src/lab/b.json", ""},           {"src/lab/templates/make.py", ""},
                    {"src/lab/core/__init__.py", ""}, {"src/lab/core/c.json", ""}};
  const std::string arguments =
      "packages=find_packages('src'), package_dir={'': 'src'}, include_package_data=True";
  CHECK_THROWS_AS(wheel_of(arguments, files), Error);
  files["src/lab.egg-info/SOURCES.txt"] =
      "src/lab/__init__.py\nsrc/lab/a.json\nsrc/lab/templates/make.py\nsrc/lab/core/c.json\n";
  CHECK(names_of(wheel_of(arguments, files)) ==
        "lab/__init__.py lab/a.json lab/core/__init__.py lab/core/c.json lab/templates/make.py");
}

TEST_CASE("its metadata is that of the source, with the requirements of setup.py") {
  const SourceFiles files{
      {"lab.py", ""},
      {"PKG-INFO",
       "Metadata-Version: 2.1\nName: Lab\nVersion: 1.0\nSummary: A lab\nDescription: First\n"
       "        \n        second\nRequires-Dist: stale\nProvides-Extra: stale\nRequires-Python: "
       ">=3\n"
       "\nThe text\nRequires-Dist: no header\n"}};
  const auto wheel = wheel_of(
      "name='lab', version='1.0.0', py_modules=['lab'], python_requires='>=3', "
      "install_requires=['b>=1'], extras_require={'x': ['c']}, "
      "entry_points={'console_scripts': ['lab = lab:main']}",
      files);
  const auto made = files_of(wheel);
  CHECK(made.at("lab-1.0.dist-info/METADATA") ==
        "Metadata-Version: 2.1\nName: Lab\nVersion: 1.0\nSummary: A lab\nDescription: First\n"
        "        \n        second\nRequires-Python: >=3\nProvides-Extra: x\nRequires-Dist: b>=1\n"
        "Requires-Dist: c; extra == 'x'\n\nThe text\nRequires-Dist: no header\n");
  CHECK(made.at("lab-1.0.dist-info/entry_points.txt") == "[console_scripts]\nlab = lab:main\n\n");
}

TEST_CASE("a source whose files contradict each other is left to its build") {
  const SourceFiles files{{"lab.py", ""}};
  for (const std::string arguments :
       {"packages=['missing']", "py_modules=['missing']", "py_modules=['lab'], scripts=['bin/x']",
        "py_modules=['lab'], scripts=['../x']", "py_modules=['lab'], version='2.0'",
        "py_modules=['lab'], name='other'", "packages=find_packages('lib'), py_modules=['lab']"}) {
    CAPTURE(arguments);
    CHECK_THROWS_AS(wheel_of(arguments, files), Error);
  }
  const auto setup = project::read_setup_py(
      "import pbr\nfrom setuptools import setup\nsetup(py_modules=['lab'])\n");
  CHECK_THROWS_AS(lay_out(setup, {{"lab.py", ""}, {"PKG-INFO", info}}), Error);
  CHECK_NOTHROW(lay_out(setup, {{"lab.py", ""}, {"pbr/x.py", ""}, {"PKG-INFO", info}}));
}

}  // namespace autopack::build
