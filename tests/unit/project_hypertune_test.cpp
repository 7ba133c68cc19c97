#include "project/program/named_distributions.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <map>

namespace autopack::project_hypertune_test {

using namespace autopack::project;
using autopack::source::MemoryTree;

namespace {

bool is_named(std::map<std::string, std::string> files,
              std::vector<std::string> requirements = {}) {
  files.emplace("task.py", "print(1)\n");
  const MemoryTree tree{files};
  return names_hypertune(
      tree, scan(tree, {.script = "task.py", .requirements = std::move(requirements)}));
}

}  // namespace

TEST_CASE("cloudml-hypertune is found by requirements, metadata and imports") {
  CHECK_FALSE(is_named({}));
  CHECK(is_named({}, {"CloudML_hypertune==0.1"}));
  CHECK(is_named({{"requirements.txt", "numpy\ncloudml-hypertune\n"}}));
  CHECK(is_named({{"pyproject.toml",
                   "[project]\nname = \"t\"\nversion = \"1\"\ndependencies = "
                   "[\"cloudml-hypertune\"]\n"}}));
  CHECK(is_named({{"task.py", "import os, hypertune as h\n"}}));
  CHECK(is_named({{"trainer/report.py", "def f():\n  from hypertune import HyperTune\n"}}));
  CHECK(is_named({{"task.py", "from hypertune.hypertune import (\n  HyperTune)\n"}}));
}

TEST_CASE("a text that only speaks of hypertune does not count") {
  CHECK_FALSE(is_named({{"task.py", "# import hypertune\ntext = 'import hypertune'\n"}}));
  CHECK_FALSE(is_named({{"task.py", "import hypertuned\nfrom .hypertune import x\n"}}));
  CHECK_FALSE(is_named({{"requirements.txt", "numpy  # not cloudml-hypertune\n"}}));
  CHECK_FALSE(is_named({{"notes.txt", "import hypertune\n"}}));
}

}  // namespace autopack::project_hypertune_test
