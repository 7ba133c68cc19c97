#include "plan/advice.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

using namespace autopack;

namespace {

std::string told(const Problems& problems, const std::string& what) {
  for (const auto& problem : problems) {
    if (problem.message.find(what) != std::string::npos) {
      std::string text = problem.message + " [" + problem.origin + "]";
      for (const auto& hint : problem.hints) {
        text += " / " + hint;
      }
      return text;
    }
  }
  return {};
}

/// Module `trainer.task`.
struct Imports {
  source::MemoryTree tree{};
  project::Request request{.module = "trainer.task"};
  image::BaseFacts base{
      .reference = "python:3", .platform = "linux/amd64", .python = "python3", .pip = true};

  Imports() { tree.file("trainer/__init__.py", ""); }

  Problems advice(const plan::BaseModules& in_base = {}) {
    const auto shared = std::make_shared<source::MemoryTree>(tree);
    const auto project = project::scan(*shared, request);
    const auto plan = plan::make_plan(shared, project, request, base, {});
    return plan::advice(plan, project, in_base);
  }
};

}  // namespace

TEST_CASE("advice: a local module that is not where Python looks") {
  Imports project;
  project.tree.file("trainer/task.py", "import json\n\nimport common.x\n")
      .file("common/__init__.py", "")
      .file("common/x.py", "");
  CHECK(project.advice().empty());
  project.request.module.clear();
  project.request.script = "trainer/task.py";
  CHECK(told(project.advice(), "common").find("--python-module=trainer.task") != std::string::npos);
}

TEST_CASE("advice: imports are followed through the image, and rules that hide them are named") {
  Imports project;
  project.tree.file(".dockerignore", "trainer/data\n")
      .file("trainer/task.py", "from trainer import model\n")
      .file("trainer/model.py", "from .data import load\nfrom . import missing_is_no_module\n")
      .file("trainer/data/__init__.py", "");
  CHECK(told(project.advice(), "data") ==
        "`trainer/model.py` line 1 imports `data`, which the rule `trainer/data` leaves out of the "
        "image [.dockerignore:1] / echo '!trainer/data/**' >> .dockerignore");
  CHECK(project.advice().size() == 1);
}

TEST_CASE("advice: packages that no requirement names") {
  Imports project;
  project.tree.file("trainer/task.py",
                    "import yaml\nimport sklearn.svm\nfrom google.cloud import storage\n"
                    "import helper_lib\ntry:\n  import fast\nexcept ImportError:\n  pass\n");
  project.tree.file("requirements.txt", "scikit-learn>=1\ngoogle_cloud_storage\n./libs/helper\n")
      .file("libs/helper/setup.py", "from setuptools import setup\nsetup(name='helper')\n")
      .file("libs/helper/helper_lib/__init__.py", "");
  const auto problems = project.advice();
  CHECK(told(problems, "yaml") ==
        "`trainer/task.py` line 1 imports `yaml`, which no requirement names [] / "
        "add `PyYAML` to `requirements.txt`, unless the executor image brings it");
  CHECK(problems.size() == 1);
}

TEST_CASE("advice: packages that the executor image brings") {
  Imports project;
  project.tree.file("trainer/task.py",
                    "import yaml\nimport numpy.linalg\nfrom google.cloud import bigquery\n");
  std::vector<std::string> asked;
  const auto problems = project.advice([&](const auto& modules) {
    asked = modules;
    return std::vector<std::string>{"google.cloud.bigquery", "numpy"};
  });
  CHECK(asked == std::vector<std::string>{"yaml", "numpy", "google.cloud.bigquery"});
  CHECK(problems.size() == 1);
  CHECK(told(problems, "yaml").find("line 1 imports `yaml`") != std::string::npos);
  project.tree.file("trainer/task.py", "import json\n");
  asked.clear();
  CHECK(project.advice([&](const auto& modules) { return asked = modules; }).empty());
  CHECK(asked.empty());
}

TEST_CASE("advice: a requirement that replaces the framework of the base") {
  Imports project;
  project.tree.file("trainer/task.py", "import torch\n");
  project.base.reference = "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime";
  const auto with = [&](const std::string& line) {
    project.tree.file("requirements.txt", "numpy\n" + line + "\n");
    return told(project.advice(), "replaces");
  };
  CHECK(with("torch==2.4") ==
        "`torch==2.4` replaces the torch 2.1.0 of the executor image, which was built for its CUDA "
        "[requirements.txt:2] / `torch` without a version keeps what the image brings");
  CHECK(with("torch").empty());
  CHECK(with("torch>=2.0,<3").empty());
  CHECK(with("torch==2.1.0").empty());
  CHECK(with("torch<2").find("torch<2") != std::string::npos);
  project.base.reference = "us-docker.pkg.dev/vertex-ai/training/tf-gpu.2-12.py310:latest";
  project.base.vertex_prebuilt = true;
  CHECK(with("tensorflow==2.15").find("tensorflow 2.12") != std::string::npos);
  CHECK(with("tensorflow==2.12.*").empty());
}
