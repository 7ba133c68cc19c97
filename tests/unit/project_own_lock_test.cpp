#include "base/digest.hpp"
#include "project/project.hpp"
#include "project/requirements/own_lock.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <string>

namespace autopack::project_own_lock_test {

using namespace autopack::project;

namespace {

std::string lock_of(const source::MemoryTree& tree, const std::string& choices = "") {
  std::string text =
      "lock-version = \"1.0\"\npackages = []\n\n[tool.autopack]\nprovided = "
      "[\"numpy==1.26.4\"]\nchoices = [" +
      choices + "]\n\n[tool.autopack.inputs]\n";
  Project project;
  project.requirement_inputs = {"requirements.txt"};
  for (const auto& [path, state] : inputs_of_own_lock(tree, project)) {
    text += "\"" + path + "\" = \"" + state + "\"\n";
  }
  return text;
}

/// Returns the lock that a scan of `tree` chooses; empty for none, and its warnings.
std::string scanned(const source::MemoryTree& tree, Request request = {}) {
  request.script = "train.py";
  const auto project = scan(tree, request);
  std::string text = project.lock ? project.lock->file : "";
  for (const auto& warning : project.warnings) {
    text += "|" + warning.message;
  }
  return text;
}

}  // namespace

TEST_CASE("a lock of autopack's own replaces the requirement files that it read") {
  source::MemoryTree tree{{"train.py", ""}, {"requirements.txt", "numpy\nrich>=1 # newest\n"}};
  const auto lock = lock_of(tree);
  tree.file("pylock.toml", lock);
  CHECK(scanned(tree) == "pylock.toml");
  const auto project = scan(tree, {.script = "train.py"});
  CHECK(project.requirement_files.empty());
  CHECK(provided_by_image(lock) == std::vector<std::string>{"numpy==1.26.4"});
  CHECK(scanned(tree, {.lock = "none"}).empty());
}

TEST_CASE("a lock contains the state of what a required directory lists") {
  const source::MemoryTree tree{{"train.py", ""},       {"requirements.txt", "./lib\n"},
                                {"lib/setup.py", "1"},  {"lib/needs.txt", "numpy\n"},
                                {"lib/module.py", "2"}, {"lib/deeper/more.txt", "3"}};
  Project project;
  project.requirement_inputs = {"lib"};
  const auto inputs = inputs_of_own_lock(tree, project);
  CHECK(inputs.contains("lib/setup.py"));
  CHECK(inputs.contains("lib/needs.txt"));
  CHECK_FALSE(inputs.contains("lib"));
  CHECK_FALSE(inputs.contains("lib/module.py"));
  CHECK_FALSE(inputs.contains("lib/deeper/more.txt"));
}

TEST_CASE("a comment makes a lock of autopack's own not old, a requirement does") {
  source::MemoryTree before{{"train.py", ""}, {"requirements.txt", "numpy\nrich\n"}};
  const auto lock = lock_of(before);
  const source::MemoryTree commented{
      {"train.py", ""}, {"requirements.txt", "# why\nnumpy\n\nrich\n"}, {"pylock.toml", lock}};
  CHECK(scanned(commented) == "pylock.toml");
  const source::MemoryTree changed{
      {"train.py", ""}, {"requirements.txt", "numpy\nrich>1\n"}, {"pylock.toml", lock}};
  CHECK(scanned(changed) ==
        "|`pylock.toml` is not used: `requirements.txt` has changed since it was written");
  const source::MemoryTree gone{{"train.py", ""}, {"pylock.toml", lock}};
  CHECK(scanned(gone) ==
        "|`pylock.toml` is not used: `requirements.txt` has changed since it was written");
  const source::MemoryTree more{{"train.py", ""},
                                {"requirements.txt", "numpy\nrich\n"},
                                {"pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n"},
                                {"pylock.toml", lock}};
  CHECK(scanned(more).find("`pyproject.toml` has changed") != std::string::npos);
}

TEST_CASE("the flags that choose requirements are part of a lock of autopack's own") {
  source::MemoryTree tree{{"train.py", ""}, {"requirements.txt", "numpy\n"}};
  tree.file("pylock.toml", lock_of(tree, "\"requirement rich\""));
  CHECK(scanned(tree).find("the choice of requirements has changed") != std::string::npos);
  CHECK(scanned(tree, {.requirements = {"rich"}}) == "pylock.toml");
  CHECK(scan(tree, {.script = "train.py", .requirements = {"rich"}}).requirements.empty());
}

}  // namespace autopack::project_own_lock_test
