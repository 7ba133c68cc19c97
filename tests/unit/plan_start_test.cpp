#include "plan/advice.hpp"
#include "project/certain.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

namespace autopack::plan_start_test {

namespace {

using Strings = std::vector<std::string>;

/// A project of two files, planned for one way of starting it.
struct Start {
  source::MemoryTree tree{{"top.py", ""}, {"pkg/__init__.py", ""}, {"pkg/task.py", ""}};
  project::Request request{};
  plan::Options options{};
  image::BaseFacts base{.reference = "python:3",
                        .platform = "linux/amd64",
                        .python = "python3",
                        .pip = true,
                        .apt = true};

  plan::ReadablePlan plan() const {
    const auto shared = std::make_shared<source::MemoryTree>(tree);
    return plan::make_plan(shared, project::scan(*shared, request), request, base, options);
  }

  /// Returns the advice if the executor image is known to contain only `there`; without a value,
  /// nothing is known about it.
  std::string advice(const std::optional<Strings>& there = std::nullopt) const {
    const auto shared = std::make_shared<source::MemoryTree>(tree);
    const auto project = project::scan(*shared, request);
    const auto look = [&](const Strings& names) {
      std::map<std::string, bool> known;
      for (const auto& name : names) {
        if (there) {
          known[name] = std::find(there->begin(), there->end(), name) != there->end();
        }
      }
      return known;
    };
    std::string text;
    for (const auto& problem :
         plan::start_advice(plan::make_plan(shared, project, request, base, options), project,
                            project::Installation::pinned, look)) {
      text += problem.severity == Problem::Severity::error ? "error: "
              : project::is_certain(problem)               ? "certain: "
                                                           : "warning: ";
      text += problem.message;
      for (const auto& hint : problem.hints) {
        text += " [" + hint + "]";
      }
      text += "\n";
    }
    return text;
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("start: the entry point through a launcher") {
  struct Case {
    project::Request request{};
    Strings expected{};
  };

  const std::vector<Case> cases{
      {{.script = "top.py", .launcher = "torchrun --nproc-per-node=2"},
       {"torchrun", "--nproc-per-node=2", "top.py"}},
      {{.module = "pkg.task", .launcher = "torchrun"}, {"torchrun", "-m", "pkg.task"}},
      {{.script = "top.py", .launcher = "accelerate"}, {"accelerate", "launch", "top.py"}},
      {{.module = "pkg.task", .launcher = "deepspeed"}, {"deepspeed", "--module", "pkg.task"}},
      {{.script = "top.py", .launcher = "mpirun -np 2"},
       {"mpirun", "-np", "2", "python3", "top.py"}},
      {{.module = "pkg.task", .launcher = "mpirun"}, {"mpirun", "python3", "-m", "pkg.task"}},
      {{.script = "top.py", .launcher = "python -m torch.distributed.run"},
       {"python3", "-m", "torch.distributed.run", "top.py"}},
      {{.script = "top.py", .launcher = "python -u"}, {"python3", "-u", "top.py"}},
      {{.command = {"python", "top.py"}}, {"python", "top.py"}},
      {{.module = "http.server"}, {"python3", "-m", "http.server"}},
  };
  for (const auto& [request, expected] : cases) {
    CHECK(Start{.request = request}.plan().entrypoint == expected);
  }
}

TEST_CASE("start: a launcher comes from a requirement or the executor image, or is reported") {
  Start start{.request = {.script = "top.py", .launcher = "torchrun"}};
  CHECK(start.advice(Strings{"torch"}).empty());
  CHECK(
      holds(start.advice(Strings{}), "certain: `torch`, which provides `torchrun`, is neither in"));
  CHECK(holds(start.advice(), "warning: whether the image will have `torch`"));
  start.request.requirements = {"torch>=2"};
  CHECK(start.advice(Strings{}).empty());
  start.request.requirements = {"six"};
  CHECK(holds(start.advice(Strings{}), "warning: `torch`, which provides `torchrun`, is not in"));
  start.request = {.script = "top.py", .launcher = "mpirun -np 2"};
  CHECK(start.advice(Strings{"program:mpirun"}).empty());
  CHECK(holds(start.advice(Strings{}), "certain: the executor image has no `mpirun`"));
  start.options.system_packages = {"openmpi-bin"};
  CHECK(start.advice(Strings{}).empty());
}

TEST_CASE("start: a module or a command from elsewhere") {
  Start start{.request = {.module = "dora"}};
  CHECK(start.advice(Strings{"dora"}).empty());
  CHECK(holds(start.advice(Strings{}), "certain: module `dora` is neither in the project nor in"));
  CHECK(holds(start.advice(), "warning: whether the image will have module `dora`"));
  start.request = {.module = "http.server"};
  CHECK(start.advice(Strings{}).empty());
  start.request = {.command = {"/bin/x"}};
  CHECK(start.advice(Strings{}).empty());
  for (const auto& command : {Strings{"./top.sh"}, Strings{"bash", "top.sh"}}) {
    start.request = {.command = command};
    CHECK(start.advice(Strings{}) == "certain: `top.sh` is run here, which does not exist\n");
  }
  start.tree.file("top.sh", "python gone.py");
  start.request = {.command = {"./top.sh"}};
  CHECK(holds(start.advice(Strings{}), "`gone.py` is run here, which does not exist"));
  start.request = {.command = {"nosuch"}};
  CHECK(holds(start.advice(Strings{}), "certain: the executor image has no `nosuch`"));
  start.options.system_packages = {"nosuch-tools"};
  CHECK(holds(start.advice(Strings{}), "warning: the executor image has no `nosuch`"));
  start.request = {.command = {"torchrn", "gone.py"}};
  CHECK(holds(start.advice(Strings{}), "`torchrn` [did you mean `torchrun`?]"));
  start.request = {.requirements = {"torch"}, .command = {"torchrun", "gone.py"}};
  CHECK(holds(start.advice(Strings{}), "warning: `gone.py` is run here, which does not exist"));
}

TEST_CASE("start: what a shell script starts must be in the image") {
  Start start{.request = {.script = "a.sh"}};
  start.tree.file("a.sh", "python top.py\npython -m pkg.task\n");
  CHECK(start.advice().empty());
  start.tree.file(".dockerignore", "top.py\n").file("a.sh", "python top.py && python no.py\n");
  CHECK(holds(start.advice(), "`top.py` is run here, which the rule `top.py` leaves out"));
  CHECK(holds(start.advice(), "`no.py` is run here, which does not exist"));
}

TEST_CASE("start: a program that a shell script looks for and nothing provides") {
  Start start{.request = {.script = "a.sh"}};
  start.tree.file("a.sh", "python top.py\nmake x\n");
  CHECK(start.advice().empty());
  CHECK(start.advice(Strings{"program:python", "program:make"}).empty());
  CHECK(start.advice(Strings{"program:python"}) ==
        "warning: `make` is run here, and the executor image does not have it "
        "[--system-packages=make]\n");
  CHECK(start.advice(Strings{"program:make"}) ==
        "certain: `python` is run here, and the executor image does not have it "
        "[`python3`, which the image has] [--system-packages=python-is-python3]\n");
  start.tree.file("a.sh", "python top.py\npython3 top.py\n");
  CHECK(holds(start.advice(Strings{"program:python3"}), "warning: `python` is run here"));
  start.tree.file("a.sh", "python top.py\nmake x\n");
  start.options.system_packages = {"python-is-python3", "build-essential"};
  CHECK(start.advice(Strings{}).empty());
  start.options.system_packages = {"some-tools"};
  CHECK(start.advice(Strings{}).empty());
  start.options.system_packages = {};
  start.request = {.command = {"python", "top.py"}};
  CHECK(holds(start.advice(Strings{}), "`python` is run here, and the executor image does not"));
  CHECK(start.advice(Strings{"program:python"}).empty());
}

TEST_CASE("start: a failure that the exit status of a shell script does not show") {
  Start start{.request = {.script = "a.sh"}};
  const auto advice = [&](const std::string& text) {
    start.tree.file("a.sh", text);
    return start.advice();
  };
  CHECK(advice("python3 -u top.py --a b 2>&1 | tee log.txt\n") ==
        "warning: a failure of `python3 -u top.py` is lost behind `| tee` "
        "[begin `a.sh` with `set -eo pipefail`]\n");
  CHECK(advice("set -e\npython -m pkg.task | tee log.txt\n") ==
        "warning: a failure of `python -m pkg.task` is lost behind `| tee` "
        "[begin `a.sh` with `set -eo pipefail`]\n");
  CHECK(
      advice("python top.py\necho done\n") ==
      "warning: a failure of `python top.py` is lost: the script continues, and its last command, "
      "`echo`, succeeds [begin `a.sh` with `set -eo pipefail`]\n");
  for (const auto* const text : {
           "set -eo pipefail\npython top.py | tee log\necho done\n",
           "set -o errexit\npython top.py\necho done\n",
           "python top.py | tee log\nexit ${PIPESTATUS[0]}\n",
           "python top.py && echo done\n",
           "python top.py || exit 1\necho done\n",
           "python top.py\nstatus=$?\necho done\nexit $status\n",
           "trap 'exit 1' ERR\npython top.py\necho done\n",
           "python top.py || echo failed\n",
           "if python top.py; then echo good; fi\n",
           "echo start\npython top.py\n",
           "python top.py | python -m pkg.task\n",
           "say() {\n  echo $1\n}\npython top.py\n",
       }) {
    CAPTURE(text);
    CHECK(advice(text) == "");
  }
}

TEST_CASE("start: a program that handles SIGTERM and runs below a shell") {
  Start start{.request = {.script = "a.sh"}};
  start.tree.file("top.py", "import signal\nsignal.signal(signal.SIGTERM, save)\n");
  start.tree.file("a.sh", "python3 top.py\n");
  CHECK(holds(start.advice(), "`top.py` handles SIGTERM and never gets it"));
  for (const auto* const text :
       {"exec python3 top.py\n", "trap 'kill $pid' TERM\npython3 top.py &\npid=$!\nwait\n",
        "python3 -m pkg.task\n"}) {
    CAPTURE(text);
    start.tree.file("a.sh", text);
    CHECK(start.advice() == "");
  }
}

TEST_CASE("start: a script that is run by its path must be executable") {
  Start start{.request = {.script = "a.sh"}};
  start.tree.file("a.sh", "./step.sh\n").file("step.sh", "python top.py\n");
  CHECK(holds(start.advice(), "`step.sh` is run here, and is not executable [chmod +x step.sh]"));
  start.tree.file("a.sh", "bash step.sh\n");
  CHECK(start.advice() == "");
}

TEST_CASE("start: a console script that a shell script looks for") {
  Start start{.request = {.script = "a.sh"}};
  start.tree.file("a.sh", "torchrun top.py\nfit x\nuv run top.py\n");
  CHECK(start.advice(Strings{}) ==
        "certain: `torchrun` is run here, and the executor image does not have it "
        "[--requirements=torch]\n"
        "warning: `fit` is run here, and the executor image does not have it\n"
        "warning: `uv` is run here, and the executor image does not have it "
        "[--requirements=uv]\n");
  start.request.requirements = {"torch", "fit"};
  CHECK(start.advice(Strings{}) ==
        "warning: `uv` is run here, and the executor image does not have it, and no "
        "requirement provides it [--requirements=uv]\n");
  start.tree.file("a.sh", "pip install -r more.txt\nuv run top.py\n");
  CHECK(start.advice(Strings{"program:pip"}).empty());
}

TEST_CASE("start: a script that a shell script runs must be in the image") {
  Start start{.request = {.script = "a.sh"}};
  start.tree.file("a.sh", ". ./env.sh\nbash steps/b.sh\n").file("steps/c.sh", "");
  CHECK(start.advice() ==
        "warning: `env.sh` is run here, which does not exist\n"
        "warning: `steps/b.sh` is run here, which does not exist\n");
  start.tree.file("env.sh", "").file("steps/b.sh", "").file(".dockerignore", "env.sh\n");
  CHECK(holds(start.advice(), "`env.sh` is run here, which the rule `env.sh` leaves out"));
  CHECK_FALSE(holds(start.advice(), "b.sh"));
}

TEST_CASE("start: what is beside a shell script, and not where it starts") {
  Start start{.request = {.script = "runs/a.sh"}};
  start.tree.file("runs/a.sh", "python3 b.py\n").file("runs/b.py", "");
  CHECK(start.advice() ==
        "warning: `b.py` is run here, which does not exist "
        "[`--command=env,-C,runs,bash,a.sh` starts the script in its own directory]\n");
  start.tree.file("runs/a.sh", "cd \"$(dirname \"$0\")\"\npython3 b.py\n");
  CHECK(start.advice().empty());
}

TEST_CASE("start: the system's part of an installation") {
  Start start{.request = {.script = "top.py", .requirements = {"a @ git+https://example.com/a"}}};
  CHECK(start.advice(Strings{"program:git"}).empty());
  CHECK(holds(start.advice(Strings{}), "error: `git+https://example.com/a` is fetched by git"));
  CHECK(holds(start.advice(), "warning: `git+https://example.com/a` is fetched by git"));
  start.options.system_packages = {"git"};
  CHECK(start.advice(Strings{}).empty());
  start.options.system_packages = {};
  const std::string commit{
      "a @ git+https://example.com/a@0123456789012345678901234567890123456789"};
  start.request.requirements = {commit, "b==1"};
  CHECK(start.advice(Strings{}).empty());
  start.request.requirements = {commit, "b>1"};
  CHECK(holds(start.advice(Strings{}), "is fetched by git"));
  start.request.requirements = {"opencv-python"};
  CHECK(holds(start.advice(Strings{}), "warning: `opencv-python` loads libGL"));
  CHECK(start.advice(Strings{"library:libGL.so.1"}).empty());
}

TEST_CASE("start: git is needed for repositories that setup.py puts together") {
  Start start{.request = {.script = "top.py"}};
  const auto with = [&](const std::string& text) {
    start.tree.file("setup.py", "from setuptools import setup\n" + text);
    return start.advice(Strings{});
  };
  const std::string need = "warning: `setup.py` names requirements that are fetched by git";
  CHECK(holds(with("R = 'https://host/r'\nsetup(name='a', install_requires=['r @ git+' + R])\n"),
              need));
  CHECK_FALSE(
      holds(with("setup(name='a', extras_require={'x': ['r @ git+https://host/r']})\n"), need));
}

TEST_CASE("start: --build-env reaches pip, and is in the dependency key") {
  Start start{.request = {.script = "top.py", .requirements = {"six"}}};
  const auto before = start.plan();
  start.options.build_environment = {{"FORCE_CUDA", "1"}, {"ARCHS", "8.0;9.0"}};
  const auto after = start.plan();
  CHECK(holds(after.dockerfile, "    export ARCHS='8.0;9.0' FORCE_CUDA=1 && \\\n"));
  CHECK(before.keys->dependencies != after.keys->dependencies);
  start.options.build_environment["FORCE_CUDA"] = "0";
  CHECK(start.plan().keys->dependencies != after.keys->dependencies);
  start.request.requirements.clear();
  const auto nothing = start.plan();
  CHECK_FALSE(holds(nothing.dockerfile, "FORCE_CUDA"));
  start.options.build_environment.clear();
  CHECK(start.plan().keys->dependencies == nothing.keys->dependencies);
}

TEST_CASE("start: a command that the project's own package provides") {
  Start start{.request = {.command = {"fit", "--all"}}};
  CHECK(holds(start.advice(Strings{}), "the executor image has no `fit`"));
  start.tree.file("pyproject.toml",
                  "[project]\nname = \"pkg\"\nversion = \"1\"\n"
                  "[project.scripts]\nfit = \"pkg.task:main\"\n"
                  "[build-system]\nrequires = [\"setuptools\"]\n"
                  "build-backend = \"setuptools.build_meta\"\n");
  CHECK(start.advice(Strings{}) == "");
}

}  // namespace autopack::plan_start_test
