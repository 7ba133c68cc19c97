#include "base/text.hpp"
#include "project/code/shell_commands.hpp"
#include "project/program/system_needs.hpp"
#include "project/project.hpp"
#include "project/requirements/build_environment.hpp"
#include "project/requirements/own_lock.hpp"
#include "python/requirement.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace autopack::project_start_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Strings = std::vector<std::string>;

std::string text_of(const Problems& problems) {
  std::string text;
  for (const auto& problem : problems) {
    text += (text.empty() ? "" : "\n") + problem.message;
    text += problem.origin ? " (" + *problem.origin + ")" : "";
    for (const auto& hint : problem.hints) {
      text += " [" + hint + "]";
    }
  }
  return text;
}

std::string refusal(const source::Tree& tree, const Request& request) {
  try {
    scan(tree, request);
  } catch (const Error& error) {
    return error.problems().empty() ? error.message() : text_of(error.problems());
  }
  return "";
}

/// Returns the commands of `text`, each as `LINE: word|word`, `?` for unknown words.
Strings commands_of(std::string_view text, const std::string& directory = "scripts") {
  Strings all;
  for (const auto& command : read_shell(text, directory)) {
    std::string line = fmt::format("{}:", command.line);
    for (const auto& word : command.words) {
      line += (line.back() == ':' ? " " : "|") + word.value_or("?");
    }
    all.push_back(line);
  }
  return all;
}

/// Returns the programs of a shell script `scripts/train.sh`, as `ORIGIN VALUE -> FILE in ROOT`.
Strings started_by(const std::string& script, std::map<std::string, std::string> files = {}) {
  files["scripts/train.sh"] = script;
  files.emplace("src/train.py", "");
  files.emplace("pkg/__init__.py", "");
  files.emplace("pkg/task.py", "");
  Strings all;
  for (const auto& one : scan(MemoryTree{files}, {.script = "scripts/train.sh"}).started) {
    if (one.kind == EntryKind::shell_script) {
      continue;
    }
    all.push_back(fmt::format(
        "{} {} -> {} in {}", one.origin, one.value,
        one.kind == EntryKind::installed_module ? "elsewhere" : one.file.value_or(""), one.root));
  }
  return all;
}

const std::string pyproject =
    "[project]\nname = 'my-pkg'\nversion = '1'\ndependencies = ['six']\n"
    "[project.optional-dependencies]\ngpu = ['a']\n"
    "[project.scripts]\nmy-train = 'pkg.task:main'\n"
    "[dependency-groups]\ntrain = ['einops', {include-group = 'Base'}]\nbase = ['wandb']\n";

const MemoryTree package{
    {"pyproject.toml", pyproject}, {"pkg/__init__.py", ""}, {"pkg/task.py", ""}, {"top.py", ""}};

}  // namespace

TEST_CASE("start: commands of a shell script") {
  CHECK(commands_of("a b # c\n#d\ne 'f g' \"h $X i\" \\\n  j; k && l | m") ==
        Strings{"1: a|b", "3: e|f g|?|j", "4: k", "4: l", "4: m"});
  CHECK(commands_of("X=1 a $X\nY=2\na $Y ${Y} ${Z:-3} \"$@\" $? $(date)") ==
        Strings{"1: a|?", "2:", "3: a|2|2|3|?|?"});
  CHECK(commands_of("if [ -f a ]; then python a.py; else python b.py; fi") ==
        Strings{"1: [|-f|a|]", "1: python|a.py", "1: python|b.py"});
  CHECK(commands_of("cat <<EOF > x\npython no.py\nEOF\npython yes.py 2>&1 | tee log") ==
        Strings{"1: cat", "4: python|yes.py", "4: tee|log"});
  CHECK(commands_of("CMD=\"torchrun --standalone\"\n$CMD train.py") ==
        Strings{"1:", "2: torchrun|--standalone|train.py"});
  CHECK(commands_of("X=a\nif y; then X=b; fi\npython $X\nX=$(z)\npython $X") ==
        Strings{"1:", "2: y", "2:", "3: python|?", "4:", "5: python|?"});
  CHECK(commands_of("D=$(cd \"$(dirname \"$0\")/..\" && pwd)\ncd $D") ==
        Strings{"1:", "2: cd|scripts/.."});
  CHECK(commands_of("a \"b\nc\" d\n'e").size() == 2);
}

TEST_CASE("start: the Python programs of a shell script") {
  CHECK(started_by("set -e\nCUDA_VISIBLE_DEVICES=0 python3 -u src/train.py --x y\n") ==
        Strings{"scripts/train.sh:2 src/train.py -> src/train.py in src"});
  CHECK(started_by("cd \"$(dirname \"$0\")\"/..\nexec torchrun --nproc-per-node 2 src/train.py") ==
        Strings{"scripts/train.sh:2 src/train.py -> src/train.py in src"});
  CHECK(started_by("cd src; python train.py") ==
        Strings{"scripts/train.sh:1 src/train.py -> src/train.py in src"});
  CHECK(started_by("python -m pkg.task; python -m torch.distributed.run -m pkg.task --a") ==
        Strings{"scripts/train.sh:1 pkg.task -> pkg/task.py in "});
  CHECK(started_by("accelerate launch --config_file a.yaml src/train.py") ==
        Strings{"scripts/train.sh:1 src/train.py -> src/train.py in src"});
  CHECK(started_by("mpirun -np 2 python src/train.py") ==
        Strings{"scripts/train.sh:1 src/train.py -> src/train.py in src"});
  CHECK(started_by("torchrun $ARGS --nproc ${N} src/train.py --config $X x.py") ==
        Strings{"scripts/train.sh:1 src/train.py -> src/train.py in src"});
  CHECK(started_by("torchrun $SCRIPT --config x.py; python $OPTIONS x.py") == Strings{});
  CHECK(started_by("run=\"deepspeed \\\n --n ${N} \\\n src/train.py --b ${B}\"\neval $run") ==
        Strings{"scripts/train.sh:4 src/train.py -> src/train.py in src"});
  CHECK(started_by("python -m dora run") == Strings{"scripts/train.sh:1 dora -> elsewhere in "});
  CHECK(started_by("python gone.py; echo python x.py; python -c 'import x'; python $X") ==
        Strings{"scripts/train.sh:1 gone.py ->  in "});
  CHECK(started_by("bash scripts/more.sh", {{"scripts/more.sh", "python src/train.py"}}) ==
        Strings{"scripts/more.sh:1 src/train.py -> src/train.py in src"});
  CHECK(started_by("bash scripts/train.sh") == Strings{});
  CHECK(scan(MemoryTree{{"a.sh", "export PYTHONPATH=$PWD/lib:/usr/lib:$PYTHONPATH\npython a.py"}},
             {.script = "a.sh"})
            .python_path == Strings{"lib"});
  CHECK(scan(MemoryTree{{"a.sh", "export PYTHONPATH=lib:."}}, {.script = "a.sh"}).python_path ==
        Strings{"", "lib"});
}

TEST_CASE("start: env changes the directory of a command") {
  const MemoryTree tree{{"jobs/fit.py", ""}, {"fit.py", ""}};
  for (const auto& command : {Strings{"env", "-C", "jobs", "python3", "fit.py"},
                              Strings{"env", "A=1", "--chdir=jobs", "python3", "fit.py"}}) {
    CHECK(scan(tree, {.command = command}).started.front().file == "jobs/fit.py");
  }
}

TEST_CASE("start: a command needs no entry, and what it starts is looked at") {
  const auto project = scan(package, {.command = {"torchrun", "--standalone", "top.py"}});
  CHECK(project.entry.kind == EntryKind::program);
  CHECK(project.entry.words == Strings{"torchrun", "--standalone", "top.py"});
  REQUIRE(project.started.size() == 1);
  CHECK(project.started.front().file == "top.py");
  CHECK(scan(package, {.command = {"bash", "-c", "python -m pkg.task"}}).started.front().file ==
        "pkg/task.py");
  CHECK(refusal(package, {.script = "top.py", .command = {"x"}}).find("exclude each other") !=
        std::string::npos);
}

TEST_CASE("start: console scripts, of the project and of a requirement") {
  const auto own = scan(package, {.script = "my-train"}).entry;
  CHECK(own.kind == EntryKind::program);
  CHECK(own.file == "pkg/task.py");
  CHECK(own.words == Strings{"my-train"});
  const auto of_requirement =
      scan(package, {.script = "dora-search", .requirements = {"dora_search"}}).entry;
  CHECK(of_requirement.kind == EntryKind::program);
  CHECK(refusal(package, {.script = "somewhere"}) ==
        "script `somewhere` does not exist (script) [`--command=somewhere` runs a program that a "
        "requirement or the executor image provides]");
}

TEST_CASE("start: a console script with the name of its package is meant") {
  const std::string text =
      "[project]\nname = 'fit'\nversion = '1'\n[project.scripts]\nfit = 'fit.cli:run'\n";
  const std::string library = "def run():\n    pass\n";
  const MemoryTree tree{{"pyproject.toml", text}, {"fit/__init__.py", ""}, {"fit/cli.py", library}};
  const auto entry = scan(tree, {.script = "fit"}).entry;
  CHECK(entry.kind == EntryKind::program);
  CHECK(entry.words == Strings{"fit"});
  CHECK(entry.file == "fit/cli.py");
  // Nothing installs it.
  const MemoryTree flat{{"pyproject.toml", text + "[tool.uv]\npackage = false\n"},
                        {"fit/__init__.py", ""},
                        {"fit/cli.py", library}};
  CHECK(refusal(flat, {.script = "fit"}).find("is a directory") != std::string::npos);
}

TEST_CASE("start: a module that is not in the tree") {
  const auto kind = [](const Request& request) { return scan(package, request).entry.kind; };
  CHECK(kind({.module = "http.server"}) == EntryKind::installed_module);
  CHECK(kind({.module = "torch.distributed.run", .requirements = {"torch"}}) ==
        EntryKind::installed_module);
  CHECK(kind({.module = "dora"}) == EntryKind::installed_module);
  CHECK(refusal(package, {.module = "pkg.tsak"}).find("did you mean `pkg.task`?") !=
        std::string::npos);
}

TEST_CASE("start: launchers") {
  const auto words = [](const std::string& launcher, Request request = {.script = "top.py"}) {
    request.launcher = launcher;
    return scan(package, request).entry.launcher;
  };
  CHECK(words("torchrun --nproc-per-node=2") == Strings{"torchrun", "--nproc-per-node=2"});
  CHECK(words("accelerate") == Strings{"accelerate", "launch"});
  CHECK(words("accelerate launch --x 'a b'") == Strings{"accelerate", "launch", "--x", "a b"});
  CHECK(words("nsys profile -o out") == Strings{"nsys", "profile", "-o", "out"});
  const MemoryTree shell{{"a.sh", ""}};
  CHECK(refusal(shell, {.script = "a.sh", .launcher = "torchrun"}) ==
        "`torchrun` starts Python, and `a.sh` is run by bash (launcher) [name the Python file with "
        "`--script`, or leave the launcher out]");
  CHECK(scan(shell, {.script = "a.sh", .launcher = "mpirun"}).entry.launcher == Strings{"mpirun"});
  CHECK(refusal(package, {.script = "top.py", .launcher = "a 'b"}).find("quote") !=
        std::string::npos);
  CHECK(refusal(package, {.launcher = "torchrun"}).starts_with("nothing to run"));
}

TEST_CASE("start: requirement files are found where projects keep them") {
  using Files = std::map<std::string, std::string>;
  const auto found = [](Files files, const std::string& script = "a/b/task.py") {
    files.emplace(script, "");
    const auto project = scan(MemoryTree{files}, {.script = script});
    return std::pair{project.requirement_files, text_of(project.warnings)};
  };
  const auto only = [](const std::string& file) { return std::pair{Strings{file}, std::string{}}; };
  CHECK(found({{"requirements.txt", "six"}}) == only("requirements.txt"));
  CHECK(found({{"a/b/requirements.txt", "six"}}) == only("a/b/requirements.txt"));
  CHECK(found({{"a/requirements.txt", "six"}}) == only("a/requirements.txt"));
  CHECK(found({{"requirements-gpu.txt", "six"}}) == only("requirements-gpu.txt"));
  CHECK(found({{"requirements/base.txt", "six"}, {"requirements/dev.txt", "black"}}) ==
        only("requirements/base.txt"));
  CHECK(
      found({{"requirements_cpu.txt", "a"}, {"requirements_gpu.txt", "b"}}) ==
      std::pair{Strings{},
                std::string{"several files list the program's dependencies, and none is installed: "
                            "`requirements_cpu.txt`, `requirements_gpu.txt` "
                            "[--requirements-file=requirements_cpu.txt]"}});
  CHECK(found({{"requirements/base.txt", "six"}, {"requirements/gpu.txt", "b"}}) ==
        std::pair{Strings{"requirements/base.txt"},
                  std::string{"`requirements/base.txt` is installed, `requirements/gpu.txt` is not "
                              "[--requirements-file=requirements/base.txt,requirements/gpu.txt]"}});
  CHECK(
      found({{"requirements.txt", "six"}, {"a/b/requirements.txt", "six\neinops"}}) ==
      std::pair{Strings{"requirements.txt"},
                std::string{"`requirements.txt` is installed, `a/b/requirements.txt`, which names "
                            "`einops` too, is not "
                            "[--requirements-file=requirements.txt,a/b/requirements.txt]"}});
  CHECK(found({{"requirements.txt", "six"}, {"a/b/requirements.txt", "six"}}) ==
        only("requirements.txt"));
  CHECK(found({{"requirements.txt", "six"}, {"requirements_big.txt", "six\neinops"}},
              "tune_big.py") ==
        std::pair{Strings{"requirements.txt"},
                  std::string{"`requirements.txt` is installed, `requirements_big.txt`, which "
                              "names `einops` too, is not "
                              "[--requirements-file=requirements.txt,requirements_big.txt]"}});
  CHECK(found({{"requirements.txt", "six"}, {"requirements_big.txt", "six\neinops"}}, "tune.py") ==
        only("requirements.txt"));
  CHECK(found({{"setup.py", "setup(name='x', install_requires=['six>=1'])"},
               {"recipes/a/requirements.txt", "six\neinops"}},
              "recipes/a/train.py")
            .second ==
        "what the project's package requires is installed, `recipes/a/requirements.txt`, which "
        "names `einops` too, is not [--requirements-file=recipes/a/requirements.txt]");
  CHECK(found({{"setup.py", "setup(name='x', install_requires=['six>=1'])"},
               {"recipes/a/requirements.txt", "six"}},
              "recipes/a/train.py")
            .second.empty());
  CHECK(found({{"pyproject.toml", pyproject},
               {"my_pkg/__init__.py", ""},
               {"requirements/base.txt", "six"},
               {"uv.lock", ""}})
            .first.empty());
}

TEST_CASE("start: a requirements file by flag") {
  const MemoryTree tree{{"task.py", ""}, {"requirements.txt", "six"}, {"r/gpu.txt", "einops"}};
  const auto project = scan(tree, {.script = "task.py", .requirement_files = {"./r/gpu.txt"}});
  CHECK(project.requirement_files == Strings{"r/gpu.txt"});
  CHECK(project.normalised_requirements == Strings{"einops"});
  CHECK(refusal(tree, {.script = "task.py", .requirement_files = {"no.txt"}}) ==
        "`no.txt` does not exist (requirements-file) [did you mean `requirements.txt`?]");
  CHECK(refusal(tree, {.script = "task.py", .requirement_files = {"../no.txt"}}) ==
        "`../no.txt` leads out of the working directory (requirements-file)");
  for (const auto* const text : {"-r r/gpu.txt", "--requirement=r/gpu.txt", "r/gpu.txt"}) {
    CHECK(refusal(tree, {.script = "task.py", .requirements = {text}})
              .find("[`--requirements-file=r/gpu.txt` takes a requirements file]") !=
          std::string::npos);
  }
}

TEST_CASE("start: conda's environment file and lock files are never silently ignored") {
  const auto scanned = [](const std::string& name, const std::string& text) {
    return scan(MemoryTree{{"task.py", ""}, {name, text}}, {.script = "task.py"});
  };
  const auto conda = scanned("environment.yml",
                             "name: x\nchannels:\n  - defaults\ndependencies:\n  - python=3.9\n"
                             "  - conda-forge::numpy>=1.2  # fast\n  - pytorch=1.12=cuda\n  - pip\n"
                             "  - pip:\n    - einops==0.6 # why\n    - 'wandb'\n");
  CHECK(python::texts_of(conda.requirements) == Strings{"einops==0.6", "wandb"});
  CHECK(conda.warnings.empty());
  REQUIRE(conda.conda);
  CHECK(conda.conda->file == "environment.yml");
  CHECK(conda.conda->packages == Strings{"numpy", "pytorch"});
  for (const auto* const file :
       {"Pipfile", "conda-lock.yml", "pixi.lock", "pixi.toml", "requirements.lock"}) {
    CHECK(text_of(scanned(file, "").warnings).find(fmt::format("`{}` is there", file)) !=
          std::string::npos);
  }
  CHECK(text_of(scanned("Pipfile", "").warnings).find("[pipenv lock]") != std::string::npos);
  CHECK(scan(MemoryTree{{"task.py", ""}, {"Pipfile", ""}},
             {.script = "task.py", .requirements = {"six"}})
            .warnings.empty());
}

TEST_CASE("start: the pip part of an environment file is read as pip reads it") {
  const auto scanned = [](const std::string& lines) {
    return scan(MemoryTree{{"task.py", ""},
                           {"reqs.txt", "six==1.16\n"},
                           {"c.txt", "numpy<2\n"},
                           {"environment.yml", "dependencies:\n  - pip:\n" + lines}},
                {.script = "task.py"});
  };
  const auto project = scanned(
      "    - einops\n    - \"-r reqs.txt\"\n    - -c c.txt\n    - --extra-index-url "
      "https://host/whl\n    - --pre\n    - -i https://pypi/simple\n");
  CHECK(project.warnings.empty());
  CHECK(python::texts_of(project.requirements) == Strings{"einops"});
  CHECK(project.requirement_files == Strings{"reqs.txt"});
  CHECK(project.pip_options == Strings{"--constraint", "c.txt", "--extra-index-url",
                                       "https://host/whl", "--pre", "--index-url",
                                       "https://pypi/simple"});
  CHECK(project.requirement_inputs == Strings{"c.txt", "reqs.txt"});
  CHECK(project.normalised_requirements == Strings{"six==1.16", "-c numpy<2",
                                                   "--extra-index-url https://host/whl", "--pre",
                                                   "--index-url https://pypi/simple"});
  const auto refused = [&](const std::string& line) {
    try {
      scanned(line);
    } catch (const Error& error) {
      return error.problems().empty() ? error.message() : text_of(error.problems());
    }
    return std::string{};
  };
  CHECK(refused("    - --extra-index-url https://u:p@host/whl\n").find("holds credentials") !=
        std::string::npos);
  CHECK(refused("    - --extra-index-url https://${T}@host/whl\n").find("holds a variable") !=
        std::string::npos);
  CHECK(refused("    - -r gone.txt\n").find("`gone.txt` does not exist") != std::string::npos);
}

TEST_CASE(
    "start: a `# /// script` block is installed if nothing else determines the installation") {
  const std::string block =
      "#!/usr/bin/env python\n# /// script\n# requires-python = \">=3.13\"\n# dependencies = [\n"
      "#   \"einops>=0.7\",\n#   \"tqdm\",\n# ]\n# ///\nimport einops\n";
  const auto scanned = [&](std::map<std::string, std::string> files, Request request = {}) {
    files.emplace("train.py", block);
    request.script = "train.py";
    return scan(MemoryTree{files}, request);
  };
  const auto alone = scanned({});
  CHECK(python::texts_of(alone.requirements) == Strings{"einops>=0.7", "tqdm"});
  CHECK(alone.warnings.empty());
  REQUIRE(alone.script_python);
  CHECK(alone.script_python->origin == "train.py:3");
  CHECK(python::texts_of(scanned({}, {.requirements = {"six"}}).requirements) ==
        Strings{"six", "einops>=0.7", "tqdm"});
  CHECK(
      text_of(scanned({{"requirements.txt", "einops==1\n"}}).warnings) ==
      "the `# /// script` block is not installed, because `requirements.txt` says what to install: "
      "the block also asks for `tqdm` (train.py:2) [--requirements=tqdm]");
  CHECK(
      text_of(scanned({{"requirements.txt", "einops==0.6\ntqdm==1\n"}}).warnings) ==
      "the `# /// script` block is not installed, because `requirements.txt` says what to install: "
      "the block asks for `einops>=0.7`, but `einops==0.6` is installed (train.py:2)");
  CHECK(scanned({{"requirements.txt", "einops==1\ntqdm==1\n"}}).warnings.empty());
  CHECK(scanned({{"pyproject.toml", "[project]\nname='a'\ndependencies=[]\n[tool.uv]\n"}})
            .requirements.size() == 2);
  CHECK(scanned({{"train.py", "# /// script\n# dependencies = [\"six\"]\nimport six\n"}})
            .requirements.empty());
}

TEST_CASE("start: a `# /// script` block is read as uv reads it, or refused with its line") {
  const auto tree_of = [](const std::string& lines, std::map<std::string, std::string> files) {
    std::string block = "# /// script\n";
    for (const auto& line : split(lines, '\n')) {
      block += "# " + line + "\r\n";
    }
    files.emplace("train.py", block + "# ///\n");
    return MemoryTree{files};
  };
  const auto scanned = [&](const std::string& lines) {
    return scan(tree_of(lines, {}), {.script = "train.py"});
  };
  const auto refused = [&](const std::string& lines) {
    return refusal(tree_of(lines, {}), {.script = "train.py"});
  };
  const auto indexes = scanned(
      "dependencies = ['six']\n[[tool.uv.index]]\nurl = 'https://a/simple'\n[[tool.uv.index]]\n"
      "url = 'https://b/simple'\ndefault = true\n[[tool.uv.index]]\nurl = 'https://c'\nformat = "
      "'flat'\n");
  CHECK(indexes.pip_options == Strings{"--extra-index-url", "https://a/simple", "--index-url",
                                       "https://b/simple", "--find-links", "https://c"});
  CHECK(indexes.listed_options.front().origin == "train.py:3");
  CHECK(indexes.warnings.empty());
  const auto sources = scanned(
      "dependencies = ['Six>1', 'a[x]', 'lib', 'b']\n[tool.uv.sources]\nsix = { git = "
      "'https://host/six', tag = '1.0' }\na = {url = 'https://host/a.whl'}\nlib = {path = "
      "'../lib'}\n");
  CHECK(python::texts_of(sources.requirements) ==
        Strings{"six @ git+https://host/six@1.0", "a[x] @ https://host/a.whl", "lib", "b"});
  CHECK(text_of(sources.warnings) ==
        "autopack reads only `git` and `url` of `[tool.uv.sources]`: `lib` comes from an index "
        "(train.py:6) [--extra-packages=../lib]");
  CHECK(text_of(scanned("[tool.uv]\nexclude-newer = '2026-11-01'").warnings) ==
        "autopack does not read `exclude-newer` of `[tool.uv]` in the `# /// script` block "
        "(train.py:3) [autopack lock --exclude-newer=DATE]");
  CHECK(text_of(scanned("[[tool.uv.index]]\nurl = 'https://a'\nexplicit = true").warnings)
            .find("the index `https://a`, which is only for packages that name it (train.py:2)") !=
        std::string::npos);

  CHECK(refused("dependencies = [").find("cannot read the `# /// script` block") !=
        std::string::npos);
  CHECK(refused("requires-python = '>=3.x'\ndependencies = [\n  'six',\n  7]") ==
        "a dependency of the `# /// script` block is not a string (train.py:5)\n"
        "`requires-python` of the `# /// script` block is `>=3.x`, which is not a set of versions "
        "(train.py:2)");
  CHECK(refused("dependencies = 'six'\nrequires-python = 3") ==
        "`dependencies` of the `# /// script` block is not a list (train.py:2)\n"
        "`requires-python` of the `# /// script` block is not a string (train.py:3)");
  CHECK(refused("dependencies = ['six', 'not a name']").find("(train.py:2)") != std::string::npos);
  CHECK(refused("[tool.uv]\nindex-url = 'https://a b'").find("is not a URL (train.py:3)") !=
        std::string::npos);
  CHECK(refused("[[tool.uv.index]]\nname = 'a'").find("has no `url` (train.py:2)") !=
        std::string::npos);
  const std::string login = "[tool.uv]\nindex-url = 'https://u:p@host'";
  CHECK(refused(login).find("holds credentials") != std::string::npos);
  // Nothing of it is installed beside requirements, so a fault in it matters less.
  const auto beside = tree_of("dependencies = [", {{"requirements.txt", "six\n"}});
  CHECK(text_of(scan(beside, {.script = "train.py"}).warnings)
            .find("cannot read the `# /// script` block") != std::string::npos);
}

TEST_CASE("start: a lock of the `# /// script` block is old if the block changes") {
  const auto is_used = [](const std::string& before, const std::string& now) {
    const auto project = scan(MemoryTree{{{"train.py", before}}}, {.script = "train.py"});
    std::string lock = "\n[tool.autopack]\nchoices = []\n\n[tool.autopack.inputs]\n";
    for (const auto& [path, state] :
         inputs_of_own_lock(MemoryTree{{{"train.py", before}}}, project)) {
      lock += fmt::format("\"{}\" = \"{}\"\n", path, state);
    }
    return scan(MemoryTree{{{"train.py", now}, {"pylock.toml", lock}}}, {.script = "train.py"})
        .lock.has_value();
  };
  const std::string block = "# /// script\n# dependencies = ['six']\n# ///\n";
  CHECK(is_used(block, block + "import six\n"));
  CHECK_FALSE(is_used(block, "# /// script\n# dependencies = ['six>1']\n# ///\n"));
  CHECK_FALSE(is_used(block, "import six\n"));
}

TEST_CASE("start: a lock determines the installation where no requirements file does") {
  const auto locked = [](std::map<std::string, std::string> files, Request request = {}) {
    files["task.py"];
    request.script = "task.py";
    const auto project = scan(MemoryTree{files}, request);
    return std::pair{project.lock ? project.lock->file : "", text_of(project.warnings)};
  };
  const auto only = [](const char* file) { return std::pair{std::string{file}, std::string{}}; };
  for (const auto* const file :
       {"pylock.toml", "pylock.gpu.toml", "uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"}) {
    const std::string text = "strategy = [\"inherit_metadata\"]\n";
    CHECK(locked({{file, text}}) == only(file));
    CHECK(locked({{file, text}}, {.lock = "none"}) == only(""));
    CHECK(locked({{file, text}, {"requirements.txt", "six==1"}}) == only(""));
    CHECK(locked({{file, text}, {"requirements.txt", "six"}}, {.lock = "none"}) == only(""));
    CHECK(locked({{file, text}, {"requirements.txt", "six"}}, {.lock = file}) == only(file));
  }
  CHECK(locked({{"uv.lock", ""}, {"environment.yml", "dependencies:\n  - pip:\n    - six\n"}}) ==
        only(""));
  CHECK(locked({{"uv.lock", ""}, {".dockerignore", "uv.lock\n"}}) == only(""));
  CHECK(locked({{"uv.lock", ""}, {"poetry.lock", ""}}) ==
        std::pair{std::string{"uv.lock"},
                  std::string{"`uv.lock` determines the installation, `poetry.lock` does not "
                              "[--lock=poetry.lock]"}});
  CHECK(locked({{"locks/uv.lock", ""}}) == only(""));
  CHECK(locked({{"locks/uv.lock", ""}}, {.lock = "./locks/uv.lock"}) == only("locks/uv.lock"));
}

TEST_CASE("start: a lock beside a requirements file is used if it satisfies that file") {
  const auto scanned = [](const std::string& file, const std::string& lock,
                          const std::string& requirements = "einops\ntqdm>=4\nsix==1.16\n",
                          const std::string& description = "") {
    return scan(MemoryTree{{"task.py", ""},
                           {"requirements.txt", requirements},
                           {"pyproject.toml", description},
                           {file, lock}},
                {.script = "task.py"});
  };
  const auto locked = [](const std::string& name, const std::string& version) {
    return fmt::format("[[packages]]\nname = \"{}\"\nversion = \"{}\"\n", name, version);
  };
  const auto einops = locked("einops", "0.8");
  const auto tqdm = locked("tqdm", "4.6");
  const auto six = "[[packages]]\nname='six'\nversion='1.16.0'\n";
  const auto fitting = einops + tqdm + six;
  const std::string begin = "`requirements.txt` is installed instead of `pylock.toml`";

  const auto used = scanned("pylock.toml", fitting);
  CHECK(used.lock.value().file == "pylock.toml");
  CHECK(used.requirement_files.empty());
  CHECK(text_of(used.warnings).empty());

  struct Row {
    std::string lock;
    std::string requirements;
    std::string warning;
  };

  const std::string usual = "einops\ntqdm>=4\nsix==1.16\n";
  for (const auto& [lock, requirements, warning] : std::vector<Row>{
           {einops + tqdm, usual, ", which lacks `six` [autopack lock --force]"},
           {einops, usual, ", which lacks `tqdm`, `six` [autopack lock --force]"},
           {fitting + locked("tqdm", "3.9"), usual,
            " [--lock=pylock.toml]"},  // another Python may take the other one
           {einops + six + locked("tqdm", "3.9"), usual,
            ", whose `tqdm==3.9` is not allowed [autopack lock --force]"},
           {einops + locked("tqdm", "3.9"), "einops\ntqdm>=4\nrich\n",
            ", which lacks `rich` and whose `tqdm==3.9` is not allowed [autopack lock --force]"},
           {fitting, usual + "rich; python_version < '3.9'\n", " [--lock=pylock.toml]"},
           {fitting, "einops[extra]\n", " [--lock=pylock.toml]"},
           {fitting, "--no-deps\neinops\n", " [--lock=pylock.toml]"},
           {fitting + "[packages.vcs]\n", usual, " [--lock=pylock.toml]"},
       }) {
    const auto project = scanned("pylock.toml", lock, requirements);
    CHECK(!project.lock);
    CHECK(text_of(project.warnings).starts_with(begin + warning));
  }
  const auto elsewhere = scanned("pylock.toml", fitting,
                                 usual +
                                     "pywin32==306; sys_platform == 'win32'\n"
                                     "numpy<2; os_name == 'nt'\n");
  CHECK(elsewhere.lock);
  CHECK(elsewhere.warnings.empty());
  CHECK(scanned("uv.lock", fitting).requirement_files ==
        std::vector<std::string>{"requirements.txt"});
  CHECK(!scanned("pylock.toml", fitting, usual,
                 "[project]\nname = \"x\"\nversion = \"1\"\ndependencies = [\"six\"]\n")
             .lock);
  CHECK(text_of(scanned("uv.lock", "").warnings)
            .find("which lacks `einops`, `tqdm`, `six` [uv add einops tqdm six]") !=
        std::string::npos);
}

TEST_CASE("start: a lock that leaves something open is passed over unless it is named") {
  struct Row {
    const char* file;
    const char* text;
    const char* told;
  };

  for (const auto& [file, text, told] : std::vector<Row>{
           {"poetry.lock", "[metadata]\nlock-version = \"2.0\"\n", "lock-version \"2.0\""},
           {"poetry.lock", "[package.source]\ntype = \"git\"\n", "line 2 names a package"},
           {"pdm.lock", "[metadata]\nstrategy = []\n", "leaves the choice to PDM"},
           {"uv.lock", "[[package]]\nname = \"x\"\nsource = { git = \"y\" }\n", "line 3 names"},
           {"uv.lock", "source = { editable = \"libs/x\" }\n", "line 1 names a package"},
           {"pylock.toml", "[[packages]]\n[packages.vcs]\n", "line 2 names a package"},
           {"Pipfile.lock", "{\n  \"git\": \"y\"\n", "line 2 names a package"},
       }) {
    const auto& shown = file;  // clang 14 captures no binding
    CAPTURE(shown);
    const MemoryTree tree{{"task.py", ""}, {file, text}};
    const auto project = scan(tree, {.script = "task.py"});
    CHECK_FALSE(project.lock);
    CHECK(text_of(project.warnings).find(told) != std::string::npos);
    const auto named = scan(tree, {.script = "task.py", .lock = file});
    CHECK(named.lock);
  }
  for (const auto* const text :
       {"source = { editable = \".\" }\n", "source = { virtual = \".\" }\n",
        "source = { registry = \"x\" }\n"}) {
    const auto project =
        scan(MemoryTree{{"task.py", ""}, {"uv.lock", text}}, {.script = "task.py"});
    CHECK(project.lock);
    CHECK(project.warnings.empty());
  }
}

TEST_CASE("start: extras and groups are those of the lock, and normalised") {
  const MemoryTree tree{{"task.py", ""}, {"uv.lock", ""}};
  const auto project =
      scan(tree, {.script = "task.py", .package_extras = {"My.GPU"}, .groups = {"train", "a_b"}});
  CHECK(project.lock == Lock{.file = "uv.lock", .extras = {"my-gpu"}, .groups = {"a-b", "train"}});
  CHECK(project.requirements.empty());
}

TEST_CASE("start: a lock that is none is refused by its name") {
  const MemoryTree tree{{"task.py", ""}, {"uv.lock", ""}, {"my.lock", ""}, {"six.txt", "six"}};
  const auto refused = [&](const char* lock, Strings files = {}) {
    return refusal(tree,
                   {.script = "task.py", .requirement_files = std::move(files), .lock = lock});
  };
  CHECK(refused("my.lock").starts_with("`my.lock` is not the name of a lock (lock)"));
  CHECK(refused("uv.lok") == "lock `uv.lok` does not exist (lock) [did you mean `uv.lock`?]");
  CHECK(refused("poetry.lock") ==
        "lock `poetry.lock` does not exist (lock) [the working directory has `uv.lock`]");
  CHECK(refusal(MemoryTree{{"task.py", ""}}, {.script = "task.py", .lock = "uv.lock"}) ==
        "lock `uv.lock` does not exist (lock) [the working directory has no lock: where none is "
        "named, its requirement files count]");
  CHECK(refusal(MemoryTree{{"task.py", ""}, {"pdm.lock", ""}}.directory("uv.lock"),
                {.script = "task.py", .lock = "uv.lock"}) ==
        "lock `uv.lock` is a directory (lock) [the working directory has `pdm.lock`]");
  CHECK(refusal(MemoryTree{{"task.py", ""}}.symlink("uv.lock", "../uv.lock"),
                {.script = "task.py", .lock = "uv.lock"}) ==
        "lock `uv.lock` leads out of the working directory by a symbolic link (lock)");
  CHECK(refused("../uv.lock") == "`../uv.lock` leads out of the working directory (lock)");
  CHECK(refused("uv.lock", {"six.txt"}) == "`lock` and `requirements-file` exclude each other");
}

TEST_CASE("start: extras and groups of the project, whose name is never asked of an index") {
  const auto extras = [](const Request& request) { return scan(package, request).package->extras; };
  CHECK(extras({.script = "top.py", .package_extras = {"gpu"}}) == Strings{"gpu"});
  CHECK(extras({.script = "top.py", .requirements = {".[gpu]"}}) == Strings{"gpu"});
  CHECK(extras({.script = "top.py", .requirements = {"My_Pkg[gpu]"}}) == Strings{"gpu"});
  CHECK(scan(package, {.script = "top.py", .requirements = {"my.pkg"}}).requirements.empty());
  CHECK(refusal(package, {.script = "top.py", .package_extras = {"gpx"}}) ==
        "the project has no extra `gpx` (extra) [did you mean `gpu`?]");
  CHECK(python::texts_of(scan(package, {.script = "top.py", .groups = {"train"}}).requirements) ==
        Strings{"einops", "wandb"});
  CHECK(refusal(package, {.script = "top.py", .groups = {"tran"}}) ==
        "`pyproject.toml` has no group `tran` (group) [did you mean `train`?]");
  const auto named = scan(MemoryTree{{"pyproject.toml", pyproject},
                                     {"my_pkg/__init__.py", ""},
                                     {"top.py", ""},
                                     {"requirements.txt", "six\nmy-pkg[gpu]\n"}},
                          {.script = "top.py"});
  CHECK(named.normalised_requirements == Strings{"six"});
  CHECK(named.package->extras == Strings{"gpu"});
  REQUIRE(named.requirement_edits.size() == 1);
  CHECK(named.requirement_edits.front().first_line == 2);
}

TEST_CASE("start: groups of Poetry") {
  const std::string groups =
      "[tool.poetry]\nname='lab'\n[tool.poetry.dev-dependencies]\nruff='0.5'\n"
      "[tool.poetry.group.train]\ninclude-groups=['dev']\n"
      "[tool.poetry.group.train.dependencies]\npython='^3.9'\nwandb='*'\n"
      "einops={version='^0.8', python='>=3.9'}\n"
      "[tool.poetry.group.own.dependencies]\nlab={git='https://host/lab.git'}\n";
  const auto tree = [](const std::string& text) {
    return MemoryTree{{"top.py", ""}, {"pyproject.toml", text}};
  };
  CHECK(python::texts_of(
            scan(tree(groups), {.script = "top.py", .groups = {"train"}}).requirements) ==
        Strings{"einops>=0.8,<0.9 ; python_version >= '3.9'", "wandb", "ruff==0.5"});
  CHECK(refusal(tree(groups), {.script = "top.py", .groups = {"own"}}) ==
        "cannot read the dependency `lab`: a group's dependency is read from the indexes only "
        "(pyproject.toml tool.poetry.group.own.dependencies) [`poetry lock` of Poetry 2 writes a "
        "lock that is read]");
  CHECK(refusal(tree(groups), {.script = "top.py", .groups = {"tran"}}) ==
        "`pyproject.toml` has no group `tran` (group) [did you mean `train`?]");
  CHECK(refusal(tree("[tool.poetry]\nname='lab'\n"), {.script = "top.py", .groups = {"train"}}) ==
        "`pyproject.toml` has no `[dependency-groups]` (group)");
}

TEST_CASE("start: variables for the installation hold no secret") {
  Problems problems;
  const auto read = [&](const Strings& values) {
    problems.clear();
    return read_build_environment(values, "`--build-env`", problems);
  };
  CHECK(read({"FORCE_CUDA=1", "TORCH_CUDA_ARCH_LIST=8.0;9.0", "EMPTY="}).size() == 3);
  CHECK(read({"TOKENIZERS_PARALLELISM=false", "MAX_TOKENS=512", "TOKENIZER=gpt2"}).size() == 3);
  CHECK(problems.empty());
  for (const auto* const bad :
       {"x", "1A=b", "A B=c", "=c", "HF_TOKEN=abc", "DB_PASSWORD=x", "HF_TOKEN_2=abc", "TOKEN1=abc",
        "TOKENS=a,b", "NPM_AUTHTOKEN=7", "TOKENFILE=x", "TOKENIZER_TOKEN=7",
        "URL=https://me:word@example.com/x"}) {
    CHECK(read({bad}).empty());
    CHECK(problems.size() == 1);
    CHECK(text_of(problems).find("word@") == std::string::npos);
  }
  read({"A=1", "A=2"});
  CHECK(text_of(problems) == "`A` is given twice, with two values (`--build-env`)");
}

TEST_CASE("start: what is there and cannot be taken is not said to be missing") {
  MemoryTree tree;
  tree.other("task.py", "fifo");
  CHECK_THROWS_WITH_AS(scan(tree, {.script = "task.py"}), "`task.py` is a fifo (script)", Error);
  tree.file("pkg/__init__.py", "").other("pkg/task.py", "socket");
  CHECK_THROWS_WITH_AS(scan(tree, {.module = "pkg.task"}),
                       "`pkg/task.py` is a socket (python-module)", Error);
}

TEST_CASE("start: needs of the system") {
  const auto needs = [](std::map<std::string, std::string> files, Strings extras = {}) {
    files.emplace("task.py", "");
    const MemoryTree tree{files};
    std::string text;
    const auto project = scan(tree, {.script = "task.py", .package_extras = std::move(extras)});
    for (const auto& need : system_needs(tree, project)) {
      text += need.packages + (need.stops_build ? "! " : " ");
    }
    return text;
  };
  CHECK(needs({{"requirements.txt", "six"}}).empty());
  CHECK(needs({{"requirements.txt", "git+https://example.com/a.git\nb @ git+ssh://c/d"}}) ==
        "git! ! ");
  CHECK(needs({{"requirements.txt", "a @ git+https://example.com/a ; python_version < '3'"}}) ==
        "git ");
  CHECK(needs({{"requirements.txt", "opencv_python>=4\nmpi4py"}}) ==
        "libgl1,libglib2.0-0 libopenmpi-dev,openmpi-bin ");
  CHECK(needs({{"requirements.txt", "opencv-python-headless"}}).empty());
  CHECK(needs({{"requirements.txt", "mpi4py; sys_platform == 'win32'"}}).empty());
  CHECK(needs({{"setup.py",
                "from setuptools import setup\n"
                "more = ['x @ git+https://e.com/x', f'opencv-python{v}']\n"
                "setup(name='a', setup_requires='mpi4py\\n\\nsix', install_requires=more)"}}) ==
        "git! libopenmpi-dev,openmpi-bin ");
  CHECK(needs({{"setup.py",
                "from setuptools import setup\n"
                "setup(name='a', extras_require={'mpi': ['mpi4py']}, tests_require=['mpi4py'])"}})
            .empty());
  CHECK(needs({{"setup.py",
                "from setuptools import setup\n"
                "setup(name='a', extras_require={'mpi': ['mpi4py'], 'cv': ['opencv-python']})"}},
              {"mpi"}) == "libopenmpi-dev,openmpi-bin ");
  CHECK(needs({{"setup.cfg",
                "[metadata]\nname = a\n[options]\npackages = a\ninstall_requires =\n  mpi4py\n"},
               {"setup.py", "from setuptools import setup\nsetup()"}}) ==
        "libopenmpi-dev,openmpi-bin ");
  CHECK(needs({{"pyproject.toml",
                "[project]\nname='a'\nversion='1'\ndependencies=['x @ git+https://e.com/x']\n"},
               {"a/__init__.py", ""}}) == "git! ");
  CHECK(needs({{"setup.py",
                "from setuptools import setup, Extension\n"
                "setup(name='a', ext_modules=[Extension('x', ['x.c'])])"}}) == "build-essential ");
}

}  // namespace autopack::project_start_test
