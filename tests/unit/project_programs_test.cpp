#include "project/certain.hpp"
#include "project/code/shell_commands.hpp"
#include "project/program/script_language.hpp"
#include "project/program/started.hpp"
#include "project/project.hpp"
#include "project/tables/system_programs.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace autopack::project_programs_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

using Strings = std::vector<std::string>;

/// Returns the first words of the commands of `text` that surely run.
std::string sure(std::string_view text) {
  std::string names;
  for (const auto& command : read_shell(text, "")) {
    if (!command.optional && !command.defines && !command.words.empty()) {
      names += (names.empty() ? "" : " ") + command.words.front().value_or("?");
    }
  }
  return names;
}

/// Returns the programs that `train.sh` surely runs from PATH, with their lines.
std::string used(const std::string& script, std::map<std::string, std::string> files = {}) {
  files["train.sh"] = script;
  std::string names;
  const MemoryTree tree{files};
  for (const auto& one : find_start_needs(tree, scan(tree, {.script = "train.sh"})).programs) {
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", one.name, one.origin);
  }
  return names;
}

std::string text_of(const Problems& problems) {
  std::string text;
  for (const auto& problem : problems) {
    text += (text.empty() ? "" : "\n") + std::string{is_certain(problem) ? "certain: " : ""};
    text += problem.message;
    text += problem.origin ? " (" + *problem.origin + ")" : "";
    for (const auto& hint : problem.hints) {
      text += " [" + hint + "]";
    }
  }
  return text;
}

std::string warnings(const MemoryTree& tree, const std::string& script = "train.sh") {
  return text_of(find_start_needs(tree, scan(tree, {.script = script})).problems);
}

/// Returns files that `train.sh` runs and that do not exist.
Strings missing(const std::string& script, std::map<std::string, std::string> files = {}) {
  files["train.sh"] = script;
  Strings paths;
  for (const auto& one : scan(MemoryTree{files}, {.script = "train.sh"}).started) {
    if (!one.file && one.kind == EntryKind::shell_script) {
      paths.push_back(one.value);
    }
  }
  return paths;
}

}  // namespace

TEST_CASE("programs: which commands of a shell script surely run") {
  CHECK(sure("a\nif b; then c; elif d; then e; else f; fi\ng") == "a g");
  CHECK(sure("a || b\nc && d\ncd x && e\nf | g\nh & i") == "c cd e f g h i");
  CHECK(sure("a || exit 1\nb || { echo no; exit 1; }") == "a b");
  CHECK(sure("while a; do b; done\nfor x in 1 2; do c; done") == "for c");
  CHECK(sure("case $1 in\n  train|fit) a ;;\n  (eval) b;;\n  *) c\nesac\nd") == "d");
  CHECK(sure("case $1 in train) a;; esac; d") == "d");
  CHECK(sure("f() { a; }\ng () {\n b\n}\nfunction h { c; }\nfunction i() {\n d\n}\nf\nh") ==
        "a c f h");
  CHECK(sure("f() { a; }\nif x; then f; fi") == "");
  CHECK(sure("f() { a; }\ng() { f; }\ng") == "a f g");
  CHECK(sure("X=(a b c)\nY+=(d)\nY+=e\nZ[0]=f\ng") == "g");
  CHECK(sure("[[ $a == b && c ]] && d\n[ x ] && e\n((i++))\nf") == "[[ [ ? f");
  CHECK(sure("! a\n(b; c)\n(d) || e\n{ f; } || g") == "b c");
  CHECK(sure("exec a\nb") == "exec");
  CHECK(sure("a\nexit\nb") == "a exit");
  CHECK(sure("echo $'it\\'s' a\nb") == "echo b");
}

TEST_CASE("programs: what a shell script looks for on PATH") {
  CHECK(used("python a.py\nmake x\necho y\npython b.py") == "python train.sh:1, make train.sh:2");
  CHECK(used("exec nohup env A=1 nice -n 5 timeout 10m python a.py") == "python train.sh:1");
  CHECK(used("srun python a.py; mpirun -np 2 python b.py") ==
        "srun train.sh:1, python train.sh:1, mpirun train.sh:1");
  CHECK(used("torchrun --nproc 2 a.py") == "torchrun train.sh:1");
  CHECK(used("bash b.sh", {{"b.sh", "ls\njq ."}}) == "jq b.sh:2");
  // Words that may be something else, or may have come from elsewhere.
  CHECK(used("python() { python3 \"$@\"; }\npython a.py") == "python3 train.sh:1");
  CHECK(used("alias python=python3\npython a.py") == "");
  CHECK(used("command -v jq || echo no\njq .") == "");
  CHECK(used("which jq && jq .") == "");
  CHECK(used("if ! type uv; then curl x | sh; fi\nuv run a.py") == "");
  CHECK(used("apt-get install -y jq\njq .") == "apt-get train.sh:1");
  CHECK(used("if x; then sudo apt install jq; fi\njq .") == "");
  CHECK(used("export PATH=$HOME/bin:$PATH\njq .") == "");
  CHECK(used("PATH+=:/opt/bin\njq .") == "");
  CHECK(used("bash -lc 'jq .'") == "");
  CHECK(used("bash -c 'jq .'") == "jq train.sh:1");
  CHECK(used("source venv/bin/activate\npython a.py") == "");
  CHECK(used("eval \"$(conda shell.bash hook)\"\njq .") == "");
  CHECK(used("$PYTHON a.py; ${CMD[@]} b; /usr/bin/jq; ./jq; ~/x") == "");
  CHECK(used("cat <<EOF\njq .\nEOF\nX=(jq yq)\necho jq; trap 'jq' EXIT") == "");
  CHECK(used("wget x || true\njq . || echo no") == "");
  CHECK(used("jq . || exit 1") == "jq train.sh:1");
}

TEST_CASE("programs: a file that a shell script runs and that is not there") {
  CHECK(missing(". ./env.sh\nsource conf/x.sh\nbash steps/a.sh\n./run.py\nsh b.sh") ==
        Strings{"env.sh", "conf/x.sh", "steps/a.sh", "run.py", "b.sh"});
  CHECK(missing("source activate x\nsource $CONF\n. /etc/profile\n. ~/.bashrc\nbash -l") ==
        Strings{});
  CHECK(missing("[ -f env.sh ] && . ./env.sh\nif x; then bash a.sh; fi\n. ./b.sh || true") ==
        Strings{});
  CHECK(missing("echo X=1 > env.sh\n. ./env.sh\ncp a b.sh; bash b.sh") == Strings{});
  CHECK(missing("git clone https://example.com/x\nbash x/run.sh") == Strings{});
  CHECK(missing("cd $X\nbash run.sh\ncd /data && bash b.sh") == Strings{});
  CHECK(missing("cd steps && bash a.sh", {{"steps/b.sh", ""}}) == Strings{"steps/a.sh"});
}

TEST_CASE("programs: what a script is written for") {
  using Kind = ScriptLanguage::Kind;
  const auto kind = [](std::string_view path, std::string_view text) {
    return language_of(path, text).kind;
  };
  CHECK(kind("a", "echo") == Kind::shell);
  CHECK(kind("a", "#!/bin/zsh\n") == Kind::shell);
  CHECK(kind("a.sh", "#!/usr/bin/env bash\r\n") == Kind::shell);
  CHECK(language_of("a.sh", "#!/usr/bin/env bash\r\n").windows_line_end);
  CHECK(kind("a", "#!/usr/bin/env -S python3 -u\n") == Kind::python);
  CHECK(language_of("a", "#! /usr/bin/perl -w\n").program == "perl");
  CHECK(kind("a.R", "x <- 1\n") == Kind::other);
  CHECK(kind("a",
             "\x7f"
             "ELF\x02") == Kind::binary);
  CHECK(kind("a", "# x\n\nimport os, sys\n") == Kind::python);
  CHECK(kind("a", "import -window root x.png\n") == Kind::shell);
}

TEST_CASE("programs: a Python program without a suffix is run by Python") {
  MemoryTree tree{{"bin/train", "#!/usr/bin/env python3\nimport sys\nimport helper\n"},
                  {"bin/helper.py", ""}};
  const auto entry = scan(tree, {.script = "bin/train"}).entry;
  CHECK(entry.kind == EntryKind::python_script);
  CHECK(entry.value == "bin/train");
  CHECK(scan(tree, {.script = "bin/train", .launcher = "torchrun"}).entry.launcher ==
        Strings{"torchrun"});
}

TEST_CASE("programs: a file that bash cannot run") {
  CHECK(warnings({{"a.pl", "#!/usr/bin/perl\n"}}, "a.pl") ==
        "certain: `a.pl` is a program for `perl`, and bash runs it (script) [--command=perl,a.pl]");
  CHECK(warnings({{"a",
                   "\x7f"
                   "ELF"}},
                 "a") ==
        "certain: `a` is a compiled program, and bash runs it (script) [--command=./a]");
  CHECK(warnings({{"a", "import sys\n"}}, "a") ==
        "certain: `a` is a program for `python3`, and bash runs it (script) [--command=python3,a]");
  CHECK(warnings({{"train.sh", "bash a.py"}, {"a.py", ""}}) ==
        "`a.py` is a program for `python3`, and bash runs it (train.sh:1) [`python3 a.py`]");
  CHECK(warnings({{"train.sh", "# a\r\npython3 train.py\r\n"}}) ==
        "certain: `train.sh` has Windows line ends, which bash reads as part of the commands "
        "(train.sh:2) "
        "[sed -i 's/\\r$//' train.sh]");
  CHECK(warnings({{"train.sh", "bash b.sh"}, {"b.sh", "python3 \\\r\n  train.py\r\n"}})
            .starts_with("`b.sh` has Windows line ends"));
  CHECK(warnings({{"train.sh", "echo a\n# b\r\necho 'c\r\n'\ncat <<X\nd\r\nX\n"}}).empty());
}

TEST_CASE("programs: a file that the system cannot start") {
  CHECK(warnings({{"train.sh", "./a.py"}, {"a.py", "#!/usr/bin/env python\n"}}) ==
        "`a.py` is run here, and is not executable (train.sh:1) [chmod +x a.py]");
  CHECK(warnings({{"train.sh", "chmod +x a.py\n./a.py"}, {"a.py", "#!/usr/bin/env python\n"}}) ==
        "");
  MemoryTree tree{{"train.sh", "./a.py\n./b.py"}};
  tree.file("a.py", "import x\n", true).file("b.py", "#!/usr/bin/env python\n", true);
  CHECK(warnings(tree) ==
        "`a.py` has no `#!` line, so that the shell and not Python runs it "
        "(train.sh:1) [`python3 a.py`]");
  const auto project = scan(tree, {.script = "train.sh"});
  const auto programs = find_start_needs(tree, project).programs;
  REQUIRE(programs.size() == 1);
  CHECK(programs.front().name == "python");
  CHECK(project.started.size() == 2);
}

TEST_CASE("programs: Debian's packages") {
  CHECK(package_of_program("ffprobe") == "ffmpeg");
  CHECK_FALSE(package_of_program("torchrun"));
  CHECK(is_in_packages("make", {"build-essential", "x"}) == true);
  CHECK(is_in_packages("make", {"git"}) == false);
  CHECK_FALSE(is_in_packages("make", {"git", "texlive"}));
  CHECK(distribution_of_program("torchrun") == "torch");
}

}  // namespace autopack::project_programs_test
