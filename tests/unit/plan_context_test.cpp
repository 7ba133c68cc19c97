#include "plan/large_directories.hpp"
#include "plan_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::plan_context_test {

using autopack::plan::Fixture;

namespace {

/// A project of one script and 60 MB beside it.
struct Heavy {
  source::MemoryTree tree{{"train.py", "print(1)\n"}};
  project::Request request{.script = "train.py"};

  explicit Heavy(const std::string& place = "assets/raw/a.bin") {
    std::string bytes;
    bytes.resize(30'000'000, 'x');
    tree.file(place, bytes);
    tree.file(place + "2", bytes + "y");
  }

  plan::ReadablePlan plan() {
    shared = std::make_shared<source::MemoryTree>(tree);
    return plan::make_plan(shared, project::scan(*shared, request), request,
                           {.reference = "python:3", .python = "python3", .pip = true}, {});
  }

  std::shared_ptr<source::MemoryTree> shared{};
};

bool holds(const plan::Plan& plan, std::string_view path) {
  return std::any_of(plan.code.begin(), plan.code.end(),
                     [&](const auto& entry) { return entry.path == path; });
}

std::string told(const plan::Plan& plan) {
  std::string text;
  for (const auto& problem : plan.warnings) {
    text += problem.message + " [" + problem.hints.front() + "]\n";
  }
  return text;
}

std::string refused(const Fixture& fixture) {
  try {
    static_cast<void>(fixture.plan());
  } catch (const Error& error) {
    std::string text;
    for (const auto& problem : error.problems()) {
      text += problem.message + " (" + problem.origin.value_or("") + ")";
      for (const auto& hint : problem.hints) {
        text += " [" + hint + "]";
      }
      text += "\n";
    }
    return text;
  }
  return {};
}

}  // namespace

TEST_CASE("context: much that holds no code and that nothing names stays out, unread") {
  Heavy heavy;
  const auto plan = heavy.plan();
  CHECK_FALSE(holds(plan, "assets"));
  CHECK(holds(plan, "train.py"));
  CHECK(told(plan) ==
        "`assets/` stays out: 60.0 MB in 2 files, no code, and nothing names it "
        "[`--include=assets` includes it]\n");
  CHECK(heavy.shared->reads() == std::set<std::string, std::less<>>{"train.py"});
}

TEST_CASE(
    "context: files that something names or requires are included, and their size is reported") {
  const auto goes_in = [](Heavy heavy) {
    const auto plan = heavy.plan();
    CHECK(holds(plan, "assets/raw/a.bin"));
    CHECK(told(plan).starts_with("`assets/`, 2 files and no code, is 60.0 MB of the image"));
  };
  for (const auto* line : {"open('assets/x')", "root / \"assets\" / x", "open(f'{x}/raw/a.bin')"}) {
    CAPTURE(line);
    Heavy heavy;
    heavy.tree.file("train.py", line);
    goes_in(heavy);
  }
  Heavy configured;
  configured.tree.file("conf/data.yaml", "path: ./assets\n");
  goes_in(configured);
  Heavy included;
  included.request.include = {"assets"};
  goes_in(included);
  Heavy named;
  named.request.extra_dirs = {"assets"};
  goes_in(named);
}

TEST_CASE("context: a word in the code is not the name of a directory") {
  Heavy heavy{"data/a.bin"};
  heavy.tree.file("train.py", "data = load()  # data\nprint(data['x'])\n")
      .file("a.yaml", "data: 1\n");
  CHECK_FALSE(holds(heavy.plan(), "data"));
}

TEST_CASE("context: beside code much goes in, and one file of it can be asked for") {
  Heavy beside{"data/a.bin"};
  beside.tree.file("data/prepare.py", "");
  const auto plan = beside.plan();
  CHECK(holds(plan, "data/a.bin"));
  Heavy one;
  one.request.include = {"assets/raw/a.bin"};
  const auto part = one.plan();
  CHECK(holds(part, "assets/raw/a.bin"));
  CHECK(holds(part, "assets/raw"));
  CHECK_FALSE(holds(part, "assets/raw/a.bin2"));
}

TEST_CASE("context: files that Git LFS did not fetch are reported") {
  Fixture fixture;
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:" + std::string(64, 'a') +
      "\nsize 12345678\n";
  fixture.tree.file("a.bin", pointer).file("b.bin", std::string(130, 'x'));
  CHECK(fixture.plan().warnings.empty());
  fixture.tree.file(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
  CHECK(told(fixture.plan()) ==
        "`a.bin` is a pointer of Git LFS, and its content is missing [git lfs pull]\n");
}

TEST_CASE("context: links are copied as they are, and dead ones are a warning for each directory") {
  Fixture fixture;
  fixture.tree.symlink("trainer/ok", "task.py")
      .symlink("dir", "trainer")
      .symlink("bucket", "/gcs/b");
  CHECK(refused(fixture).empty());
  fixture.tree.symlink("gone", "nowhere/x");
  fixture.tree.symlink("trainer/abs", "/data/x").symlink("up", "../x");
  fixture.tree.file("big/x", "").symlink("hidden", "big/x");
  source::IgnoreRules rules;
  rules.add("big\n", ".dockerignore");
  fixture.project.ignore = rules;
  CHECK(refused(fixture).empty());
  CHECK(told(fixture.plan()) ==
        "`up` is a symbolic link to `../x`, which is outside the working directory "
        "[`--exclude=up` leaves it out]\n"
        "`trainer/abs` is a symbolic link to `/data/x`, which is outside the working directory "
        "[`--exclude=trainer/abs` leaves it out]\n"
        "`hidden` is a symbolic link to `big/x`, which the rule `big` leaves out "
        "[echo '!big/x' >> .dockerignore]\n"
        "`gone` is a symbolic link to `nowhere/x`, which does not exist "
        "[`--exclude=gone` leaves it out]\n");
}

}  // namespace autopack::plan_context_test
