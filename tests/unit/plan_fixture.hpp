#pragma once

#include "plan/plan.hpp"
#include "support/memory_tree.hpp"

#include <memory>
#include <string>

namespace autopack::plan {

/// A small project with everything that a plan can contain, and its executor image.
struct Fixture {
  source::MemoryTree tree{{"trainer/task.py", "print(1)\n"},
                          {"trainer/__init__.py", ""},
                          {"shared/x.py", "x = 1\n"},
                          {"requirements.txt", "six\n"},
                          {"wheels/a-1-py3-none-any.whl", "zip"},
                          {"setup.py", "setup()\n"},
                          {"notes.md", "notes"}};
  project::Project project{
      .entry = {.kind = project::EntryKind::python_script,
                .value = "trainer/task.py",
                .file = "trainer/task.py"},
      .requirement_files = {"requirements.txt"},
      .requirement_inputs = {"requirements.txt", "wheels/a-1-py3-none-any.whl"},
      .requirements = {"numpy>=1"},
      .extra_dirs = {"shared"},
      .package = project::Package{.name = "trainer", .files = {"setup.py"}, .installs = false},
      .normalised_requirements = {"six"}};
  project::Request request{};
  image::BaseFacts base{.reference = "example.org/base:1",
                        .digest = sha256("base"),
                        .platform = "linux/amd64",
                        .python = "python3",
                        .pip = true,
                        .apt = true};
  Options options{};

  ReadablePlan plan() const {
    return make_plan(std::make_shared<source::MemoryTree>(tree), project, request, base, options);
  }
};

}  // namespace autopack::plan
