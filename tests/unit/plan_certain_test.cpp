#include "plan/advice.hpp"
#include "project/certain.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::plan_certain_test {

namespace {

/// Module `trainer.task`.
struct Program {
  source::MemoryTree tree{};
  project::Request request{.module = "trainer.task"};
  image::BaseFacts base{
      .reference = "python:3", .platform = "linux/amd64", .python = "python3", .pip = true};

  Program() { tree.file("trainer/__init__.py", ""); }

  Problems advice(const plan::BaseModules& in_base = {}) const {
    const auto shared = std::make_shared<source::MemoryTree>(tree);
    const auto project = project::scan(*shared, request);
    const auto plan = plan::make_plan(shared, project, request, base, {});
    return plan::advice(plan, project, plan::walk_imports(plan, project), in_base).warnings;
  }
};

}  // namespace

TEST_CASE("advice: what surely ends the program is marked, and nothing else") {
  Program project;
  project.base.python_version = "3.12.1";
  bool is_known = true;
  const auto in_base = [&](const std::vector<std::string>& modules) {
    std::map<std::string, bool> known;
    for (const auto& module : modules) {
      if (is_known) {
        known[module] = module == "numpy";
      }
    }
    return known;
  };
  const auto marked = [&](const std::string& text) {
    project.tree.file("trainer/task.py", text);
    std::vector<bool> marks;
    for (const auto& problem : project.advice(in_base)) {
      marks.push_back(project::is_certain(problem));
    }
    return marks;
  };
  using Marks = std::vector<bool>;
  CHECK(marked("import numpy\n").empty());
  CHECK(marked("import nosuch\n") == Marks{true});
  CHECK(marked("import imp\n") == Marks{true});
  CHECK(marked("from collections import Mapping\n") == Marks{true});
  CHECK(marked("from .nothing import x\n") == Marks{true});
  CHECK(marked("import nosuch\nif __name__ == '__main__':\n    import other\n") ==
        Marks{true, false});
  // Imports that may be skipped, or provided while the program runs.
  CHECK(marked("try: import a_b; import nosuch\nexcept ImportError: pass\n").empty());
  CHECK(marked("import subprocess\nsubprocess.run(['pip', 'install', 'x'])\nimport nosuch\n") ==
        Marks{false});
  CHECK(marked("import os\nos.system('pip install nosuch')\nimport nosuch\n") == Marks{false});
  CHECK(marked("import sys\nsys.modules['nosuch'] = 1\nimport nosuch\n") == Marks{false});
  CHECK(marked("import sys\nsys.path.append('/opt')\nimport nosuch\n") == Marks{false});
  is_known = false;
  CHECK(marked("import nosuch\n") == Marks{false});
  is_known = true;
  for (const auto* const requirements : {"six\n", "pandas\n"}) {
    project.tree.file("requirements.txt", requirements);
    CHECK(marked("import yaml\n") == Marks{true});
  }
  for (const auto* const requirements : {"transformers[torch]\n", "somebodys-tools\n"}) {
    project.tree.file("requirements.txt", requirements);
    CHECK(marked("import cv2\n") == Marks{false});
  }
}

TEST_CASE("advice: files that a run of a known package left behind are not the package") {
  Program project;
  project.request.module.reset();
  project.request.script = "train.py";
  project.tree.file("requirements.txt", "six\n")
      .file("wandb/run-1/files/code/train.py", "")
      .file("datasets/cifar.py", "");
  const auto is_reported = [&](const std::string& text, const std::string& module) {
    project.tree.file("train.py", text);
    const auto found = project.advice();
    return std::any_of(found.begin(), found.end(), [&](const Problem& problem) {
      return problem.message.find(module) != std::string::npos;
    });
  };
  CHECK(is_reported("import wandb\n", "wandb"));
  CHECK(is_reported("from wandb import init\n", "wandb"));
  CHECK_FALSE(is_reported("from datasets import cifar\n", "datasets"));
  CHECK_FALSE(is_reported("import datasets\nimport datasets.cifar\n", "datasets"));
}

TEST_CASE("advice: what a Python does not take is reported once for each file") {
  Program project;
  project.base.python_version = "3.11.2";
  project.tree.file("trainer/task.py", "import trainer.a, trainer.b, trainer.c, trainer.d\n")
      .file("trainer/a.py", "def x(:\n")
      .file("trainer/b.py", "print 'x'\n")
      .file("trainer/c.py", "x = 1\n%matplotlib inline\n!pip install x\n")
      .file("trainer/d.py", "get_ipython().system('ls')\n");
  const auto shared = std::make_shared<source::MemoryTree>(project.tree);
  const auto scanned = project::scan(*shared, project.request);
  const auto plan = plan::make_plan(shared, scanned, project.request, project.base, {});
  const auto say = [&](const plan::SyntaxFaults& faults) {
    std::vector<std::string> all;
    for (const auto& problem :
         plan::advice(plan, scanned, plan::walk_imports(plan, scanned), {}, faults).warnings) {
      all.push_back((project::is_certain(problem) ? "certain: " : "") + problem.message);
    }
    return all;
  };
  const std::string ipython =
      "certain: `trainer/d.py` line 1 calls `get_ipython()`, which only a notebook has";
  const std::string python2 =
      "`trainer/b.py` is written for Python 2: line 1 prints without parentheses";
  const std::string notebook =
      "`trainer/c.py` line 2 is a command of a notebook, which Python does not take";
  CHECK(say({}) == std::vector<std::string>{python2, notebook, ipython});
  CHECK(say({{"trainer/a.py", {1, "invalid syntax", "3.11"}},
             {"trainer/b.py", {1, "Missing parentheses", "3.11"}},
             {"trainer/c.py", {2, "invalid syntax", "3.11"}}}) ==
        std::vector<std::string>{
            "certain: `trainer/a.py` line 1 is not valid Python 3.11: invalid syntax",
            "certain: " + python2, "certain: " + notebook, ipython});
  CHECK(say({{"trainer/a.py", {1, "invalid syntax", "3.13"}}}).front() ==
        "certain: `trainer/a.py` line 1 is not valid Python: invalid syntax (according to Python "
        "3.13 of "
        "this machine)");
}

TEST_CASE("advice: worker processes of a data loader are seen where the program reaches them") {
  using plan::sets_data_workers;
  CHECK(sets_data_workers("loader = DataLoader(data, num_workers=4)\n"));
  CHECK(sets_data_workers("DataLoader(d, num_workers = 2)"));
  CHECK_FALSE(sets_data_workers("DataLoader(data, num_workers=0)\n"));
  CHECK_FALSE(sets_data_workers("# num_workers=4\n"));
  CHECK_FALSE(sets_data_workers(""));
  Program project;
  const std::string loads = "import torch\nx = torch.utils.data.DataLoader(d, num_workers=4)\n";
  project.tree.file("trainer/task.py", "import trainer.data\n")
      .file("trainer/data.py", loads)
      .file("trainer/other.py", loads);
  const auto first_at = [&] {
    const auto shared = std::make_shared<source::MemoryTree>(project.tree);
    const auto scanned = project::scan(*shared, project.request);
    const auto plan = plan::make_plan(shared, scanned, project.request, project.base, {});
    const auto found = plan::data_worker_advice(plan, plan::walk_imports(plan, scanned).reached);
    return found ? found->message : std::string{};
  };
  CHECK(first_at() == "`trainer/data.py` loads data in worker processes");
  project.tree.file("trainer/task.py", "import json\n");
  CHECK(first_at().empty());
}

}  // namespace autopack::plan_certain_test
