#include "source/selection.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace autopack::source_selection_test {

using namespace autopack::source;

namespace {

/// The work tree of a repository at the tree's root.
std::shared_ptr<const GitWorkTree> git(std::vector<std::string> tracked = {},
                                       std::vector<OuterIgnoreFile> outside = {}) {
  auto tree = std::make_shared<GitWorkTree>();
  tree->prefix = outside.empty() ? "" : outside.back().prefix;
  tree->outside = std::move(outside);
  std::sort(tracked.begin(), tracked.end());
  tree->tracked = [tracked](std::string_view nested) {
    return nested.empty() ? tracked : std::vector<std::string>{};
  };
  return tree;
}

/// Returns the rule and its place; empty if `path` is included.
std::string rule(const Selection& selection, std::string_view path) {
  const auto found = selection.excludes(path);
  return found ? found->file + ":" + std::to_string(found->line) + " " + found->pattern : "";
}

}  // namespace

TEST_CASE("without any file of rules autopack's own leave out what no program needs") {
  const MemoryTree tree{{"train.py", ""},       {"autopack.yaml", ""},
                        {"Dockerfile", ""},     {"docker/Dockerfile", ""},
                        {".github/x.yml", ""},  {"a.dockerignore", ""},
                        {".gitignore", "*.py"}, {"a/.vscode/x", ""},
                        {"a/x.py~", ""},        {"env/pyvenv.cfg", ""},
                        {"env/lib/a.py", ""},   {"x/conda-meta/history", ""},
                        {"x/bin/python", ""},   {"y/conda-meta/a.json", ""},
                        {"envs/task.py", ""},   {".pre-commit-config.yaml", ""}};
  const Selection selection{tree, {}, nullptr};
  for (const auto* in :
       {"train.py", "docker/Dockerfile", "envs/task.py", "envs", "y", "y/conda-meta/a.json"}) {
    CAPTURE(in);
    CHECK(rule(selection, in).empty());
  }
  for (const auto* out : {"autopack.yaml", "Dockerfile", ".github/x.yml", "a.dockerignore",
                          ".gitignore", "a/.vscode/x", "a/x.py~", "env", "env/lib/a.py", "x",
                          "x/bin/python", ".pre-commit-config.yaml"}) {
    CAPTURE(out);
    CHECK(rule(selection, out).starts_with("autopack's defaults:0 "));
  }
}

TEST_CASE(
    "files of credentials, histories, browsers and autopack's own cache stay out by themselves") {
  const MemoryTree tree{{"a.py", ""}};
  const Selection selection{tree, {}, nullptr};
  for (const auto* out :
       {"kaggle.json", ".kaggle/kaggle.json", ".netrc", "_netrc", ".config/gcloud/credentials.db",
        ".aws/credentials", ".azure/accessTokens.json", ".cache/huggingface/token", ".pypirc",
        ".huggingface/token", "sub/.ssh/id_rsa", "id_ed25519_sk", ".bash_history", ".zsh_history",
        ".python_history", ".mozilla/firefox/x/logins.json",
        ".config/google-chrome/Default/Cookies", ".cache/autopack/layers/x"}) {
    CAPTURE(out);
    CHECK(rule(selection, out).starts_with("autopack's defaults:0 "));
  }
  for (const auto* in : {"kaggle.py", ".cache/huggingface/hub/model.bin", "token", "history.txt",
                         ".config/settings.yaml", ".npmrc"}) {
    CAPTURE(in);
    CHECK(rule(selection, in).empty());
  }
}

TEST_CASE("in a work tree what git ignores stays out, with the line that says so") {
  const MemoryTree tree{{".gitignore", "out/\n*.ckpt\n"},
                        {"out/a", ""},
                        {"out/b/c", ""},
                        {"m.ckpt", ""},
                        {"tracked.ckpt", ""},
                        {"sub/.gitignore", "!m.ckpt\n/x\n"},
                        {"sub/m.ckpt", ""},
                        {"sub/x/y", ""},
                        {"x/y", ""},
                        {"notes", ""}};
  const Selection selection{
      tree, {}, git({"tracked.ckpt", "out/b/c"}, {{.name = "/h/ignore", .text = "notes\n"}})};
  CHECK(rule(selection, "out") == ".gitignore:1 out/");
  CHECK(rule(selection, "out/a") == ".gitignore:1 out/");
  CHECK(rule(selection, "out/b/c").empty());
  CHECK(selection.may_hold_exceptions("out"));
  CHECK(rule(selection, "m.ckpt") == ".gitignore:2 *.ckpt");
  CHECK(rule(selection, "tracked.ckpt").empty());
  CHECK(rule(selection, "sub/m.ckpt").empty());
  CHECK(rule(selection, "sub/x/y") == "sub/.gitignore:2 /x");
  CHECK(rule(selection, "x/y").empty());
  CHECK(rule(selection, "notes") == "/h/ignore:1 notes");
  CHECK(selection.is_only_ignored_by_git("out/a"));
  Selection kept = selection;
  kept.keep("out/a", "why");
  CHECK(rule(selection, "out/a").empty());
}

TEST_CASE("a directory that git ignores as a whole is a project like any other") {
  const MemoryTree tree{{"a.py", ""}, {"b.log", ""}, {".gitignore", "*.log\n"}};
  const Selection selection{
      tree, {}, git({}, {{.name = "../.gitignore", .prefix = "mine/", .text = "mine/\n*.py\n"}})};
  CHECK(rule(selection, "a.py").empty());
  CHECK(rule(selection, "b.log") == ".gitignore:1 *.log");
}

TEST_CASE("one kind of file of rules counts: .dockerignore, else .gcloudignore, else git's") {
  MemoryTree tree{{".gitignore", "g\n"},
                  {".gcloudignore", "c\n#!include:.gitignore\n!.env\n"},
                  {"g", ""},
                  {"c", ""},
                  {"d", ""},
                  {".env", ""}};
  const Selection uploaded{tree, {}, git()};
  CHECK(rule(uploaded, "c") == ".gcloudignore:1 c");
  CHECK(rule(uploaded, "g") == ".gitignore:1 g");
  CHECK(rule(uploaded, ".env").empty());
  CHECK_FALSE(uploaded.asks_git());
  tree.file(".dockerignore", "d\n");
  const Selection docker{tree, {}, git()};
  CHECK(rule(docker, "d") == ".dockerignore:1 d");
  CHECK(rule(docker, "c").empty());
  CHECK(rule(docker, "g").empty());
  CHECK(rule(docker, ".env") == "autopack's defaults:0 **/.env");
  tree.file(".gcloudignore", "#!include:gone\n");
  CHECK_NOTHROW(Selection(tree, {}, nullptr));
  MemoryTree broken{{".gcloudignore", "#!include:gone\n"}};
  CHECK_THROWS_WITH(Selection(broken, {}, nullptr),
                    "`.gcloudignore` line 1 includes `gone`, which does not exist");
}

TEST_CASE("typed patterns override all, deeper ones override higher ones") {
  const MemoryTree tree{{".dockerignore", "data\n"},
                        {"data/a", ""},
                        {"data/raw/b", ""},
                        {"data/raw/c.csv", ""},
                        {"data/.git/x", ""},
                        {".env", ""},
                        {"sub/.env", ""},
                        {"sub/data/a", ""},
                        {"x.csv", ""}};
  const auto with = [&](std::vector<std::string> include, std::vector<std::string> exclude) {
    return Selection{tree, {.include = std::move(include), .exclude = std::move(exclude)}, nullptr};
  };
  const auto one = with({"data", ".env"}, {"data/raw", "*.csv"});
  CHECK(rule(one, "data/a").empty());
  CHECK(rule(one, "data/raw/b") == "--exclude:0 --exclude=data/raw");
  CHECK(rule(one, "x.csv") == "--exclude:0 --exclude=*.csv");
  CHECK(rule(one, "data/.git/x") == "autopack's defaults:0 **/.git");
  CHECK(rule(one, ".env").empty());
  CHECK(rule(one, "sub/.env") == "autopack's defaults:0 **/.env");
  CHECK(rule(one, "sub/data/a").empty());
  const auto other = with({"data/raw/c.csv"}, {"data"});
  CHECK(rule(other, "data/a") == "--exclude:0 --exclude=data");
  CHECK(rule(other, "data/raw/c.csv").empty());
  CHECK(other.may_hold_exceptions("data"));
  CHECK(other.was_asked_for("data/raw/c.csv"));
  CHECK_FALSE(other.was_asked_for("data/raw"));
  const auto all = with({"**"}, {});
  CHECK(rule(all, "data/a").empty());
  CHECK(rule(all, ".env") == "autopack's defaults:0 **/.env");
  CHECK(rule(with({"data/**"}, {}), "data/raw/b").empty());
}

TEST_CASE("a repository inside another has rules and files of its own") {
  const MemoryTree tree{{".gitignore", "*.bin\n"},     {"lib/.git", "gitdir: x"}, {"lib/a.bin", ""},
                        {"lib/.gitignore", "*.tmp\n"}, {"lib/b.tmp", ""},         {"a.bin", ""}};
  const Selection selection{tree, {}, git()};
  CHECK(rule(selection, "a.bin") == ".gitignore:1 *.bin");
  CHECK(rule(selection, "lib/a.bin").empty());
  CHECK(rule(selection, "lib/b.tmp") == "lib/.gitignore:1 *.tmp");
}

TEST_CASE("several threads ask at once, and each gets its answer") {
  MemoryTree tree{{".gitignore", "*.bin\n"}};
  for (int i = 0; i < 60; ++i) {
    const std::string directory = "d" + std::to_string(i);
    tree.file(directory + "/a.py", "").file(directory + "/a.bin", "");
    tree.file(directory + "/.gitignore", "!a.bin\nb" + std::to_string(i) + "\n");
    tree.file(directory + "/b" + std::to_string(i) + "/x", "");
  }
  const Selection selection{tree, {}, git()};
  std::atomic<int> wrong{0};
  const auto ask = [&] {
    for (int i = 0; i < 60; ++i) {
      const std::string directory = "d" + std::to_string(i);
      const bool is_right = !selection.excludes(directory + "/a.py") &&
                            !selection.excludes(directory + "/a.bin") &&
                            selection.excludes(directory + "/b" + std::to_string(i) + "/x") &&
                            !selection.may_hold_exceptions(directory + "/__pycache__");
      wrong += is_right ? 0 : 1;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back(ask);
    }
  }
  CHECK(wrong == 0);
}

}  // namespace autopack::source_selection_test
