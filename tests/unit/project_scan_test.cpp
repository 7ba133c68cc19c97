#include "base/text.hpp"
#include "project/project.hpp"
#include "support/memory_tree.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <map>

namespace autopack::project_scan_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Files = std::map<std::string, std::string>;

/// Returns every finding as `message (origin) [hint]`, one per line.
std::string findings(const source::Tree& tree, const Request& request) {
  try {
    scan(tree, request);
  } catch (const Error& error) {
    std::string text;
    for (const auto& problem : error.problems()) {
      text += (text.empty() ? "" : "\n") + problem.message;
      text += problem.origin ? " (" + *problem.origin + ")" : "";
      for (const auto& hint : problem.hints) {
        text += " [" + hint + "]";
      }
    }
    return text.empty() ? error.message() : text;
  }
  return "";
}

Request script(const std::string& path) {
  return {.script = path};
}

Request module(const std::string& name) {
  return {.module = name};
}

const Files trainer{{"trainer/__init__.py", ""},
                    {"trainer/task.py", ""},
                    {"trainer/sub/__main__.py", ""},
                    {"run.sh", ""},
                    {"top.py", ""}};

std::string entry_of(const source::Tree& tree, const Request& request) {
  const auto entry = scan(tree, request).entry;
  const char* const kind = entry.kind == EntryKind::module          ? "module"
                           : entry.kind == EntryKind::python_script ? "python"
                                                                    : "shell";
  return std::string{kind} + " " + entry.value + " " + entry.file.value_or("");
}

/// Returns the findings of a script project with these requirements.
std::string requirement_findings(const std::string& text, Files files = {}) {
  files["task.py"] = "";
  files["requirements.txt"] = text;
  return findings(MemoryTree{files}, script("task.py"));
}

Project requirement_facts(const std::string& text, Files files = {}) {
  files["task.py"] = "";
  files["requirements.txt"] = text;
  return scan(MemoryTree{files}, script("task.py"));
}

using Strings = std::vector<std::string>;

}  // namespace

TEST_CASE("entries are found as Python and bash would") {
  MemoryTree tree{trainer};
  tree.symlink("link.py", "trainer/task.py");
  CHECK(entry_of(tree, script("trainer/task.py")) == "python trainer/task.py trainer/task.py");
  CHECK(entry_of(tree, script("./trainer//task.py")) == "python trainer/task.py trainer/task.py");
  CHECK(entry_of(tree, script("trainer/../top.py")) == "python top.py top.py");
  CHECK(entry_of(tree, script("run.sh")) == "shell run.sh run.sh");
  CHECK(entry_of(tree, script("link.py")) == "python trainer/task.py trainer/task.py");
  CHECK(entry_of(tree, module("trainer.task")) == "module trainer.task trainer/task.py");
  CHECK(entry_of(tree, module("trainer.sub")) == "module trainer.sub trainer/sub/__main__.py");
  CHECK(entry_of(tree, module("top")) == "module top top.py");
  const MemoryTree src{{"setup.py", "from setuptools import setup\nsetup(package_dir={'': 'src'})"},
                       {"src/pkg/__init__.py", ""},
                       {"src/pkg/task.py", ""}};
  CHECK(entry_of(src, module("pkg.task")) == "module pkg.task src/pkg/task.py");
}

TEST_CASE("a module of a local library in src layout is an entry") {
  const Files library{{"libs/foo/pyproject.toml", "[project]\nname = 'acme-foo'\n"},
                      {"libs/foo/src/foo_train/__init__.py", ""},
                      {"libs/foo/src/foo_train/train.py", ""},
                      {"libs/foo/src/single.py", ""}};
  for (const auto* const line : {"-e ./libs/foo\n", "./libs/foo\n"}) {
    auto files = library;
    files["requirements.txt"] = line;
    for (const auto* const name : {"foo_train.train", "single"}) {
      CHECK(scan(MemoryTree{files}, module(name)).entry.kind == EntryKind::installed_module);
    }
  }
  CHECK(scan(MemoryTree{library}, {.module = "foo_train.train", .extra_packages = {"libs/foo"}})
            .entry.kind == EntryKind::installed_module);
  CHECK(findings(MemoryTree{library}, module("foo_train.trainer")).find("src") ==
        std::string::npos);
}

TEST_CASE("paths of this machine that lead into the project are the project's") {
  const TemporaryDirectory place;
  const auto root = place.path().string();
  const auto facts = [&](const std::string& text) {
    return scan(MemoryTree{{"task.py", ""},
                           {"setup.py", "from setuptools import setup\nsetup(name='a')\n"},
                           {"lib/setup.py", ""},
                           {"w/six-1-py3-none-any.whl", ""},
                           {"requirements.txt", text}},
                {.directory = place.path(), .script = "task.py"});
  };
  const auto self = facts("-e " + root + "\n");
  REQUIRE(self.requirement_edits.size() == 1);
  CHECK(self.requirement_edits[0].text.empty());
  CHECK(self.normalised_requirements == Strings{"."});
  const auto others = facts(root + "/lib ; python_version > '3'\n-e " + root +
                            "/lib\nsix @ file://" + root + "/w/six-1-py3-none-any.whl\n");
  REQUIRE(others.requirement_edits.size() == 3);
  CHECK(others.requirement_edits[0].text == "./lib ; python_version > '3'");
  CHECK(others.requirement_edits[1].text == "./lib");
  CHECK(others.requirement_edits[2].text == "./w/six-1-py3-none-any.whl");
  CHECK(join(others.normalised_requirements, "\n").find(root) == std::string::npos);
}

TEST_CASE("paths of the machine that conda built on are named as such") {
  const std::string path = "/croot/numpy_1/w/dist/numpy-1.26.4-cp311-cp311-linux_x86_64.whl";
  const std::string expected =
      "`" + path +
      "` is a path of the machine that conda built on (requirements.txt:1) [write "
      "`numpy==1.26.4`] [`pip list --format=freeze > requirements.txt` writes versions instead]";
  CHECK(requirement_findings("numpy @ file://" + path + "#sha256=00\n") == expected);
  CHECK(requirement_findings("certifi @ file:///build/feedstock_root/certifi_1/work/certifi\n")
            .find("[write `certifi`]") != std::string::npos);
  CHECK(
      findings(MemoryTree{{"run.sh", ""},
                          {"pyproject.toml",
                           "[project]\nname='a'\ndependencies=['numpy @ file://" + path + "']\n"}},
               script("run.sh"))
          .find("(pyproject.toml project.dependencies) [write `numpy==1.26.4`]") !=
      std::string::npos);
}

TEST_CASE("constraints of pip's settings are the project's") {
  const TemporaryDirectory place;
  const auto file = (place.path() / "c.txt").string();
  std::ofstream{file} << "numpy<2  # old\n";
  const auto scanned = [&](Files files, std::vector<std::string> constraints) {
    files["task.py"] = "";
    return scan(MemoryTree{files},
                {.script = "task.py", .pip = {.constraints = std::move(constraints)}});
  };
  const auto project = scanned({{"requirements.txt", "numpy\n"}}, {file});
  CHECK(project.normalised_requirements == Strings{"numpy", "-c numpy<2"});
  REQUIRE(project.constraints.size() == 1);
  CHECK(project.constraints[0].text == "numpy<2  # old\n");
  CHECK(project.listed_requirements.back().constraint);
  CHECK(project.listed_requirements.back().origin == file + ":1");
  // There is no choice.
  CHECK(scanned({}, {file}).constraints.empty());
  CHECK(scanned({{"uv.lock", ""}}, {file}).constraints.empty());
  CHECK(scanned({{"requirements.txt", "numpy\n"}}, {"https://host/c.txt"}).constraints[0].is_url);
  CHECK_THROWS_WITH_AS(scanned({{"requirements.txt", "numpy\n"}}, {file + "gone"}),
                       doctest::Contains("which do not exist"), Error);
}

TEST_CASE("scan: a module's name need not be an identifier, as for python -m") {
  const MemoryTree tree{{"my-project/train.py", ""}, {"1st.py", ""}};
  CHECK(entry_of(tree, module("my-project.train")) ==
        "module my-project.train my-project/train.py");
  CHECK(entry_of(tree, module("1st")) == "module 1st 1st.py");
}

TEST_CASE("an entry that cannot run is reported with a suggestion") {
  struct Case {
    Request request{};
    std::string expected{};
  };

  const std::vector<Case> cases{
      {script("trainer/tsk.py"),
       "script `trainer/tsk.py` does not exist (script) [did you mean `trainer/task.py`?]"},
      {script("task.py"),
       "script `task.py` does not exist (script) [did you mean `trainer/task.py`?]"},
      {script("nothing/like/it.py"), "script `nothing/like/it.py` does not exist (script)"},
      {script("../task.py"), "script `../task.py` leads out of the working directory (script)"},
      {script("/etc/passwd"), "script `/etc/passwd` leads out of the working directory (script)"},
      {script("out.py"),
       "script `out.py` leads out of the working directory by a symbolic link (script)"},
      {script("loop.py"), "script `loop.py` does not exist (script) [did you mean `top.py`?]"},
      {script("trainer"), "script `trainer` is a directory (script) [--script trainer/task.py]"},
      {script("trainer/sub"),
       "script `trainer/sub` is a directory (script) [--python-module trainer.sub]"},
      {script("trainer.task"),
       "script `trainer.task` does not exist; it names a module (script) [--python-module "
       "trainer.task]"},
      {script("trainer/task"),
       "script `trainer/task` does not exist; it names a module (script) [--python-module "
       "trainer.task]"},
      {script("gs://b/task.py"),
       "script `gs://b/task.py` is a URL, not a file of the project (script) [copy it here: "
       "`gcloud storage cp gs://b/task.py . && autopack ... --script=task.py`]"},
      {module("./trainer.task"),
       "module `./trainer.task` is a path, not a dotted name (python-module) [--python-module "
       "trainer.task]"},
      {module("./nothing/here"),
       "module `./nothing/here` is a path, not a dotted name (python-module)"},
      {module("trainer.task:main"),
       "module `trainer.task:main` is not a dotted name: `python -m` runs a module, not its `main` "
       "(python-module) [--python-module trainer.task]"},
      {module("trainer/task.py"),
       "module `trainer/task.py` is a path, not a dotted name (python-module) [--script "
       "trainer/task.py]"},
      {module("trainer/task"),
       "module `trainer/task` is a path, not a dotted name (python-module) [--python-module "
       "trainer.task]"},
      {module("top.py"),
       "module `top.py` is a path, not a dotted name (python-module) [--script top.py]"},
      {module("trainer..task"),
       "module `trainer..task` is not a dotted name: `` is not an identifier (python-module)"},
      {module("1st"),
       "module `1st` is not a dotted name: `1st` is not an identifier (python-module)"},
      {module("my-pkg.task"),
       "module `my-pkg.task` is not a dotted name: `my-pkg` is not an identifier (python-module)"},
      {module("trainer.tsak"),
       "module `trainer.tsak` does not exist (python-module) [did you mean `trainer.task`?]"},
      {module("task"),
       "module `task` does not exist (python-module) [did you mean `trainer.task`?]"},
      {module("trainer"),
       "package `trainer` cannot be run: it has no `__main__.py` (python-module) "
       "[--python-module trainer.sub]"},
      {module("hidden"),
       "module `hidden` is below `src`, where Python does not look (python-module) [--script "
       "src/hidden.py]"},
  };
  MemoryTree tree{trainer};
  tree.symlink("out.py", "../task.py").symlink("loop.py", "loop.py").file("src/hidden.py", "");
  for (const auto& [request, expected] : cases) {
    CHECK(findings(tree, request) == expected);
  }
  // setup.py is never the program.
  CHECK(findings(MemoryTree{{"train.ipynb", "{}"}, {"setup.py", ""}}, script("train.ipnb")) ==
        "script `train.ipnb` does not exist (script) [did you mean `train.ipynb`?]");
  CHECK(findings(MemoryTree{{"setup.py", ""}}, script("demo.py")) ==
        "script `demo.py` does not exist (script)");
}

TEST_CASE("scan: a package that cannot be run is reported with its runnable modules") {
  const std::string guard = "if __name__ == '__main__':\n  pass\n";
  MemoryTree tree{{"trainer/__init__.py", ""},
                  {"trainer/model.py", "x = 1\n"},
                  {"trainer/task.py", guard},
                  {"trainer/sub/eval.py", guard},
                  {"other/run.py", guard}};
  CHECK(findings(tree, module("trainer")) ==
        "package `trainer` cannot be run: it has no `__main__.py` (python-module) "
        "[--python-module trainer.sub.eval] [--python-module trainer.task]");
  CHECK(findings(MemoryTree{{"trainer/model.py", ""}}, module("trainer")) ==
        "package `trainer` cannot be run: it has no `__main__.py` (python-module) "
        "[`--python-module=trainer.MODULE` runs one of its modules]");
}

TEST_CASE("a script may be named absolutely when it is inside") {
  const TemporaryDirectory directory;
  std::ofstream{directory.path() / "a.py"} << "";
  const auto tree = source::make_disk_tree(directory.path());
  Request request{.directory = directory.path(), .script = (directory.path() / "a.py").string()};
  CHECK(scan(*tree, request).entry.value == "a.py");
}

TEST_CASE("a request that contradicts itself is refused before anything is read") {
  const MemoryTree tree{trainer};
  CHECK(findings(tree, {}) ==
        "nothing to run: no `script`, `python-module` or `command` is given [--script "
        "trainer/task.py] "
        "[--python-module trainer.task]");
  CHECK(findings(tree, {.script = "top.py", .module = "top"}) ==
        "`script` and `python-module` exclude each other");
  CHECK(findings(tree, {.script = "top.py", .include = {"../data"}, .exclude = {".."}}) ==
        "`include` names `../data`, which is outside of the working directory "
        "[`--extra-dirs=../data` takes in files from elsewhere]\n"
        "`exclude` names `..`, which is outside of the working directory");
  CHECK(tree.reads().empty());
  CHECK(findings(tree, {.dockerfile = "Dockerfil"}) == "Dockerfile `Dockerfil` does not exist");
  MemoryTree own{{"my.Dockerfile", "FROM x"}, {"my.Dockerfile.dockerignore", "a"}, {"a", ""}};
  CHECK(scan(own, {.dockerfile = "my.Dockerfile"}).ignore.excludes("a"));
}

TEST_CASE("requirements name all that pip reads, relative as pip reads it") {
  const Project project = requirement_facts(
      "-r reqs/base.txt\n"
      "./wheels/a-1-py3-none-any.whl\n"
      "-e ./lib[gpu]\n"
      "--find-links links\n"
      "b-1.tar.gz\n",
      {{"reqs/base.txt",
        "-r more.txt\n-c ../limits.txt\n./lib2\n-f here\n--extra-index-url "
        "https://pypi.corp/simple\n"},
       {"reqs/more.txt", "Num_Py == 1\n"},
       {"limits.txt", "scipy<2"},
       {"wheels/a-1-py3-none-any.whl", ""},
       {"lib/setup.py", ""},
       {"lib2/pyproject.toml", ""},
       {"reqs/here/x-1-py3-none-any.whl", ""},
       {"links/x.zip", ""},
       {"b-1.tar.gz", ""}});
  CHECK(project.requirement_files == Strings{"requirements.txt"});
  CHECK(project.requirement_inputs == Strings{"b-1.tar.gz", "lib", "lib2", "limits.txt", "links",
                                              "reqs/base.txt", "reqs/here", "reqs/more.txt",
                                              "requirements.txt", "wheels/a-1-py3-none-any.whl"});
  CHECK(project.normalised_requirements ==
        Strings{"num-py==1", "-c scipy<2", "./lib2", "--find-links here",
                "--extra-index-url https://pypi.corp/simple", "./wheels/a-1-py3-none-any.whl",
                "./lib[gpu]", "--find-links links", "b-1.tar.gz"});
  REQUIRE(project.requirement_edits.size() == 1);
  CHECK(project.requirement_edits[0].file == "requirements.txt");
  CHECK(project.requirement_edits[0].first_line == 3);
  CHECK(project.requirement_edits[0].text == "./lib[gpu]");
  CHECK(project.index_hosts == Strings{"pypi.corp"});
  CHECK_FALSE(project.has_index_credentials);
  CHECK_FALSE(project.hashed);
}

TEST_CASE("the project named in its own requirements is left to its package") {
  Files files{{"setup.py", "from setuptools import setup\nsetup(name='x', packages=[])"},
              {"reqs/dev.txt", "-e .[dev]\nfile:.#egg=x\n"}};
  const Project project = requirement_facts("numpy\n-e \\\n.[gpu,Dev]\n-r reqs/dev.txt\n", files);
  CHECK(project.package->extras == Strings{"dev", "gpu"});
  REQUIRE(project.requirement_edits.size() == 3);
  CHECK(project.requirement_edits[0].first_line == 2);
  CHECK(project.requirement_edits[0].last_line == 3);
  CHECK(project.requirement_edits[0].text.empty());
  CHECK(project.requirement_edits[1].file == "reqs/dev.txt");
  CHECK(project.requirement_inputs == Strings{"reqs/dev.txt", "requirements.txt"});
  CHECK(requirement_findings("-e .") ==
        "`.` cannot be installed: it has no setup.py and no pyproject.toml (requirements.txt:1)");
}

TEST_CASE("links on the way to an input are inputs too") {
  MemoryTree tree{{"task.py", ""}, {"shared/base.txt", "numpy"}, {"shared/w.txt", "-c base.txt"}};
  tree.symlink("requirements.txt", "shared/w.txt").symlink("base.txt", "shared/base.txt");
  CHECK(scan(tree, script("task.py")).requirement_inputs ==
        Strings{"base.txt", "requirements.txt", "shared/base.txt", "shared/w.txt"});
  MemoryTree out{{"task.py", ""}};
  out.symlink("requirements.txt", "../requirements.txt");
  CHECK(findings(out, script("task.py")) ==
        "`requirements.txt` leads out of the working directory by a symbolic link");
}

TEST_CASE("secrets of requirement files are found and kept to themselves") {
  const Project project = requirement_facts(
      "--index-url https://me:hunter2@pypi.corp/simple?key=hunter2\n"
      "--extra-index-url https://${USER}:${TOKEN}@other.corp/\n"
      "pkg @ https://hunter2@host/p.whl\n"
      "-e git+https://hunter2@git.corp/r.git@v1#egg=r\n");
  CHECK(project.has_index_credentials);
  CHECK(project.environment_variables == Strings{"TOKEN", "USER"});
  CHECK(project.index_hosts == Strings{"git.corp", "host", "other.corp", "pypi.corp"});
  for (const auto& line : project.normalised_requirements) {
    CHECK(line.find("hunter2") == std::string::npos);
  }
  CHECK(project.normalised_requirements.at(3) == "git+https://***@git.corp/r.git@v1#egg=r");
  CHECK_FALSE(requirement_facts("-i https://${A}:${B}@h/\n").has_index_credentials);
  const auto before = requirement_facts("p @ https://h/p.whl?version=1").normalised_requirements;
  CHECK(before != requirement_facts("p @ https://h/p.whl?version=2").normalised_requirements);
  CHECK(requirement_facts("--indx https://me:hunter2@h\n").normalised_requirements ==
        Strings{"--indx https://***@h"});
  CHECK(requirement_findings("--indx https://me:hunter2@h\n"
                             "https://me:hunter2@h/x y==1 ; z\n"
                             "-r https://me:hunter2@h/${X}\n"
                             "a b https://me:hunter2@h\n"
                             "-c file:https://me:hunter2@h\n"
                             "./x/https://me:hunter2@h\n") ==
        "autopack does not know pip's option `--indx`: it is passed on as it is "
        "(requirements.txt:1)\n"
        "`https://***@h/x y==1 ; z` has a malformed marker after `;` (requirements.txt:2)\n"
        "pip reads `https://h/${X}` when the image is built: autopack cannot know when it "
        "changes (requirements.txt:3)\n"
        "`a b https://***@h` is neither a requirement, a path nor a URL (requirements.txt:4)\n"
        "pip reads `file:https://h` when the image is built: autopack cannot know when it "
        "changes (requirements.txt:5)\n"
        "`./x/https://***@h` is neither a requirement, a path nor a URL (requirements.txt:6)");
}

TEST_CASE("hashes and everything spelled differently alike") {
  const std::string hash(64, 'a');
  const Project project = requirement_facts("numpy==1 \\\n  --hash=sha256:" + hash + "\n");
  CHECK(project.hashed);
  CHECK(project.normalised_requirements == Strings{"numpy==1 --hash=sha256:" + hash});
  CHECK(requirement_facts("--require-hashes").hashed);
  CHECK(requirement_facts("# a\nNumPy>=1,  <2 # why\n").normalised_requirements ==
        requirement_facts("\xef\xbb\xbfnumpy >=1,<2\r\n").normalised_requirements);
}

TEST_CASE("requirement files that pip could not follow are reported by file and line") {
  struct Case {
    std::string text{};
    std::string expected{};
  };

  const std::vector<Case> cases{
      {"\nnumpy=1\n",
       "`numpy=1`: `=` is not a version operator (requirements.txt:2) [did you mean `numpy==1`?]"},
      {"-r missing.txt", "`missing.txt` does not exist (requirements.txt:1)"},
      {"-r reqs/bsae.txt",
       "`reqs/bsae.txt` does not exist (requirements.txt:1) [did you mean `reqs/base.txt`?]"},
      {"-r ../other.txt",
       "`../other.txt` leads out of the working directory (requirements.txt:1) "
       "[--extra-packages=../other.txt installs it from there]"},
      {"-r reqs", "`reqs` is a directory, not a requirements file (requirements.txt:1)"},
      {"-r reqs/cycle.txt",
       "`requirements.txt` names itself: requirements.txt -> reqs/cycle.txt -> requirements.txt "
       "(reqs/cycle.txt:2)"},
      {"-r reqs/local.txt",
       "`lib` does not exist (reqs/local.txt:1) [pip reads paths from the working directory: write "
       "`./reqs/lib`]\n"
       "`../lib` leads out of the working directory (reqs/local.txt:2) [pip reads paths from the "
       "working directory: write `./lib`]"},
      {"./wheels/none-1-py3-none-any.whl",
       "`wheels/none-1-py3-none-any.whl` does not exist (requirements.txt:1) [did you mean "
       "`wheels/a-1-py3-none-any.whl`?]"},
      {"./wheels/bad.whl",
       "`bad.whl` is not a wheel's name: pip wants `NAME-VERSION-PYTHON-ABI-PLATFORM.whl` "
       "(requirements.txt:1)"},
      {"/opt/x-1-py3-none-any.whl",
       "`/opt/x-1-py3-none-any.whl` leads out of the working directory (requirements.txt:1) "
       "[--extra-packages=/opt/x-1-py3-none-any.whl installs it from there]"},
      {"file:///opt/x.zip",
       "`/opt/x.zip` leads out of the working directory (requirements.txt:1) "
       "[--extra-packages=/opt/x.zip installs it from there]"},
      {"./reqs",
       "`reqs` cannot be installed: it has no setup.py and no pyproject.toml "
       "(requirements.txt:1)"},
      {"./reqs/base.txt",
       "`reqs/base.txt` is neither a wheel, an sdist nor a directory (requirements.txt:1) [write "
       "`-r "
       "reqs/base.txt` when it holds requirements]"},
      {"-e numpy",
       "`-e numpy` is neither a directory nor a version control URL (requirements.txt:1) [did you "
       "mean `numpy` or `-e ./numpy`?]"},
      {"-e ./wheels/a-1-py3-none-any.whl",
       "`-e wheels/a-1-py3-none-any.whl` is a file: only a directory can be editable "
       "(requirements.txt:1) [write `./wheels/a-1-py3-none-any.whl` without `-e`]"},
      {"--find-links nowhere", "`nowhere` does not exist (requirements.txt:1)"},
      {"-f ${DIR}/links",
       "the path `${DIR}/links` holds a variable, so autopack cannot determine the file "
       "(requirements.txt:1) [write the path out]"},
      {"a==1 --hash=md5:00",
       "`--hash=md5:00` is not a hash: pip wants `sha256:` and 64 hexadecimal digits, or sha384, "
       "sha512 "
       "(requirements.txt:1)"},
      {"-e ./reqs/lib\f",
       "another requirement is on the same line, which autopack has to replace "
       "(requirements.txt:1) [end each line with a line feed]"},
      {"a\n\xff",
       "cannot read `requirements.txt`: it is not UTF-8 (requirements.txt:2) [iconv -f latin1 -t "
       "utf8 "
       "requirements.txt > requirements.txt.new && mv requirements.txt.new requirements.txt]"},
      {"-r reqs/out.txt",
       "`../../x` leads out of the working directory (reqs/out.txt:1) [--extra-packages=../../x "
       "installs it from there]"},
  };
  const Files files{{"reqs/base.txt", "numpy"},
                    {"reqs/cycle.txt", "numpy\n-r ../requirements.txt"},
                    {"reqs/local.txt", "./lib\n../lib\n"},
                    {"reqs/lib/setup.py", ""},
                    {"reqs/out.txt", "../../x"},
                    {"wheels/a-1-py3-none-any.whl", ""},
                    {"wheels/bad.whl", ""}};
  for (const auto& [text, expected] : cases) {
    CHECK(requirement_findings(text, files) == expected);
  }
  CHECK(requirement_findings("a=1\n-r b\n-e .\n") != "");
  CHECK(split(requirement_findings("a=1\n-r b\n-e .\n"), '\n').size() == 3);
}

TEST_CASE("a change behind a character that ends a line for pip alone makes other dependencies") {
  for (const std::string end :
       {"\v", "\f", "\x1c", "\x1d", "\x1e", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    CAPTURE(end);
    const auto before = requirement_facts("# ours" + end + "six==1.16\n").normalised_requirements;
    const auto after = requirement_facts("# ours" + end + "six==1.17\n").normalised_requirements;
    CHECK(before == std::vector<std::string>{"six==1.16"});
    CHECK(after == std::vector<std::string>{"six==1.17"});
  }
}

TEST_CASE("options of a newer pip are passed on and reported") {
  const auto project = requirement_facts("--only-final six\nsix -C k=v\n");
  CHECK(project.normalised_requirements ==
        std::vector<std::string>{"--only-final six", "six --config-settings=k=v"});
  REQUIRE(project.warnings.size() == 1);
  CHECK(project.warnings[0].message ==
        "autopack does not know pip's option `--only-final`: it is passed on as it is");
}

TEST_CASE("an editable name is the directory of that name") {
  const Files files{{"pkgdir/setup.py", ""}};
  const auto project = requirement_facts("-e pkgdir[x]\n", files);
  CHECK(project.normalised_requirements == std::vector<std::string>{"./pkgdir[x]"});
  REQUIRE(project.requirement_edits.size() == 1);
  CHECK(project.requirement_edits[0].text == "./pkgdir[x]");
}

TEST_CASE("a requirements file at a URL is pip's to read, with a warning") {
  const Project project = requirement_facts("-r https://u:secret@host/r.txt\n");
  REQUIRE(project.warnings.size() == 1);
  CHECK(project.warnings[0].message ==
        "pip reads `https://host/r.txt` when the image is built: autopack cannot know when it "
        "changes");
}

TEST_CASE("find-links at the root means its archives, not the code beside them") {
  const Project project = requirement_facts(
      "--find-links .", {{"a-1-py3-none-any.whl", ""}, {"code/x.py", ""}, {"notes.txt", ""}});
  CHECK(project.requirement_inputs == Strings{"a-1-py3-none-any.whl", "requirements.txt"});
}

TEST_CASE("files that are needed but ignored are reported with the rule") {
  const std::string ignore = "# notes\n*.txt\ntrainer\nwheels\nextra\n!requirements.txt\n";
  MemoryTree tree{{".dockerignore", ignore},
                  {"trainer/task.py", ""},
                  {"requirements.txt", "-r base.txt\n./wheels/a-1-py3-none-any.whl\n"},
                  {"base.txt", ""},
                  {"extra/data", ""},
                  {"wheels/a-1-py3-none-any.whl", ""}};
  CHECK(
      findings(tree, {.script = "trainer/task.py", .extra_dirs = {"extra"}}) ==
      "`trainer/task.py`, the script, is ignored by the rule `trainer` (.dockerignore:3) [echo "
      "'!trainer/task.py' >> .dockerignore]\n"
      "`base.txt`, named at requirements.txt:1, is ignored by the rule `*.txt` (.dockerignore:2) "
      "[echo '!base.txt' >> .dockerignore]\n"
      "`wheels/a-1-py3-none-any.whl`, named at requirements.txt:2, is ignored by the rule `wheels` "
      "(.dockerignore:4) [echo '!wheels/a-1-py3-none-any.whl' >> .dockerignore]");
  MemoryTree defaults{{"venv/run.py", ""}};
  CHECK(findings(defaults, script("venv/run.py")) ==
        "`venv/run.py`, the script, is ignored by the rule `**/venv` (autopack's defaults) "
        "[`--include=venv/run.py` includes it]");
}

TEST_CASE("extras inside the tree are checked") {
  struct Case {
    Request request{};
    std::string expected{};
  };

  const std::vector<Case> cases{
      {{.extra_packages = {"wheels/a-1-py3-none-any.wh"}},
       "extra package `wheels/a-1-py3-none-any.wh` does not exist (extra-packages) [did you mean "
       "`wheels/a-1-py3-none-any.whl`?]"},
      {{.extra_packages = {"numpy"}},
       "extra package `numpy` does not exist (extra-packages) [--requirements numpy]"},
      {{.extra_packages = {"lib"}},
       "extra package `lib` cannot be installed: it has no setup.py and no pyproject.toml "
       "(extra-packages) [--extra-dirs lib copies it]"},
      {{.extra_packages = {"task.py"}},
       "extra package `task.py` is neither a wheel, an sdist nor a directory (extra-packages)"},
      {{.extra_packages = {"bad.whl"}},
       "`bad.whl` is not a wheel's name: pip wants `NAME-VERSION-PYTHON-ABI-PLATFORM.whl` "
       "(extra-packages)"},
      {{.extra_packages = {"."}},
       "`.` is the project itself, which is installed without being named (extra-packages)"},
      {{.extra_packages = {""}}, "an empty path (extra-packages)"},
      {{.extra_packages = {"out"}},
       "extra package `out` leads out of the working directory by a symbolic link (extra-packages) "
       "[name the target of the link]"},
      {{.extra_packages = {"/nowhere/x.whl"}},
       "extra package `/nowhere/x.whl` does not exist (extra-packages)"},
      {{.extra_packages = {"gs://bucket/x.whl"}},
       "`gs://bucket/x.whl` is a URL, not a path (extra-packages) [gsutil cp gs://bucket/x.whl .]"},
      {{.extra_packages = {"https://u:secret@h/x.whl"}},
       "`https://h/x.whl` is a URL, not a path (extra-packages) [--requirements takes URLs]"},
      {{.extra_dirs = {"wheel"}},
       "extra directory `wheel` does not exist (extra-dirs) [did you mean `wheels`?]"},
      {{.extra_dirs = {"../nowhere/at/all"}},
       "extra directory `../nowhere/at/all` does not exist (extra-dirs)"},
      {{.extra_dirs = {"out"}},
       "extra directory `out` leads out of the working directory by a symbolic link (extra-dirs) "
       "[name the target of the link]"},
      {{.requirements = {"numpy=1"}},
       "`numpy=1`: `=` is not a version operator (requirements) [did you mean `numpy==1`?]"},
      {{.requirements = {"--index-url=https://u:secret@h"}},
       "`--index-url=https://***@h` is an option of pip, not a requirement (requirements) [write "
       "it "
       "into requirements.txt]"},
      {{.requirements = {"./x.whl"}},
       "`./x.whl` is a path, not a requirement (requirements) [--extra-packages ./x.whl]"},
      {{.requirements = {"a @ https://u:secret@h/a.whl"}},
       "`a @ https://***@h/a.whl` holds credentials, which would be written into the Dockerfile "
       "(requirements) [write it into requirements.txt with a variable such as `${TOKEN}`]"},
      {{.requirements = {"", "a b"}},
       "an empty requirement (requirements)\n`a b` is not a requirement: cannot read `b` after the "
       "name (requirements)"},
  };
  MemoryTree tree{
      {"task.py", ""}, {"bad.whl", ""}, {"lib/x.py", ""}, {"wheels/a-1-py3-none-any.whl", ""}};
  tree.symlink("out", "/usr");
  for (auto [request, expected] : cases) {
    request.script = "task.py";
    CHECK(findings(tree, request) == expected);
  }
  const Project project = scan(tree, {.script = "task.py",
                                      .requirements = {"numpy>=1,<2", "numpy>=1,<2"},
                                      .extra_packages = {"./wheels/a-1-py3-none-any.whl"},
                                      .extra_dirs = {"lib/", "lib"}});
  CHECK(python::texts_of(project.requirements) == Strings{"numpy>=1,<2"});
  CHECK(project.extra_packages == Strings{"wheels/a-1-py3-none-any.whl"});
  CHECK(project.extra_dirs == Strings{"lib"});
}

TEST_CASE("extras outside the tree keep their names, which must differ") {
  const TemporaryDirectory directory;
  const auto root = directory.path() / "project";
  for (const char* const name : {"project", "a/data", "b/data", "a/lib"}) {
    std::filesystem::create_directories(directory.path() / name);
  }
  std::ofstream{root / "task.py"} << "";
  std::ofstream{directory.path() / "a/lib/setup.py"} << "";
  std::ofstream{directory.path() / "a/x-1.tar.gz"} << "";
  const auto tree = source::make_disk_tree(root);
  const Project project =
      scan(*tree, {.directory = root,
                   .script = "task.py",
                   .extra_packages = {"../a/lib/", (directory.path() / "a/x-1.tar.gz").string()},
                   .extra_dirs = {"../a/data"}});
  REQUIRE(project.outside_packages.size() == 2);
  CHECK(project.outside_packages[0].name == "lib");
  CHECK(project.outside_packages[0].is_directory);
  CHECK(project.outside_packages[1].name == "x-1.tar.gz");
  CHECK(project.outside_packages[1].path == directory.path() / "a/x-1.tar.gz");
  REQUIRE(project.outside_dirs.size() == 1);
  CHECK(project.outside_dirs[0].name == "data");
  const auto clash = findings(
      *tree, {.directory = root, .script = "task.py", .extra_dirs = {"../a/data", "../b/data"}});
  CHECK(clash.find("would have the same name `data` in the image (extra-dirs)") !=
        std::string::npos);
  std::filesystem::create_directories(root / "data");
  CHECK(findings(*tree, {.directory = root, .script = "task.py", .extra_dirs = {"../a/data"}})
            .find("would take the place of the working directory's own `data`") !=
        std::string::npos);
}

TEST_CASE("a requirement that is the project's own directory is the project") {
  const TemporaryDirectory directory;
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream{directory.path() / name} << text;
  };
  write("train.py", "");
  write("pyproject.toml", "[project]\nname = 'mine'\nversion = '1'\n");
  write("requirements.txt", "-e " + directory.path().string() + "\n");
  const auto tree = source::make_disk_tree(directory.path());
  const Request request{.directory = directory.path(), .script = "train.py"};
  CHECK(findings(*tree, request).empty());
  const auto project = scan(*tree, request);
  REQUIRE(project.requirement_edits.size() == 1);
  CHECK(project.requirement_edits[0].text.empty());
}

}  // namespace autopack::project_scan_test
