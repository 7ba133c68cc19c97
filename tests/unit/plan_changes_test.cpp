#include "base/text.hpp"
#include "plan/changes.hpp"
#include "plan_fixture.hpp"
#include "state/build_record.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <functional>

namespace autopack::plan_changes_test {

using autopack::plan::Fixture;
using Texts = std::vector<std::string>;

namespace {

plan::Changes after(const std::function<void(Fixture&)>& change,
                    const std::function<void(Fixture&)>& first = {}) {
  Fixture before;
  if (first) {
    first(before);
  }
  Fixture now = before;
  change(now);
  return plan::changes(plan::record_of(before.plan(), before.project),
                       plan::record_of(now.plan(), now.project));
}

void require(Fixture& fixture, const Texts& lines) {
  fixture.project.normalised_requirements = lines;
  fixture.tree.file("requirements.txt", fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace

TEST_CASE("a change of requirements is reported with names and versions") {
  struct Row {
    Texts before;
    Texts now;
    std::string told;
  };

  const std::vector<Row> rows{
      {{"numpy==2.1"}, {"numpy==2.2"}, "numpy 2.1 -> 2.2"},
      {{"numpy==2.1"}, {"numpy>=2"}, "numpy ==2.1 -> >=2"},
      {{"numpy"}, {"numpy==2.1"}, "numpy any version -> ==2.1"},
      {{"six"}, {"six", "pandas[all]>=2"}, "pandas[all] added"},
      {{"six", "attrs"}, {"six"}, "attrs removed"},
      {{"a", "b"}, {"b", "a"}, "another order"},
      {{"a==1 --hash=sha256:1"}, {"a==1 --hash=sha256:2"}, "hashes"},
      {{"-c a==1"}, {"-c a==2"}, "-c a 1 -> 2"},
      {{"--index-url https://one"},
       {"--index-url https://two"},
       "--index-url https://two added, --index-url https://one removed"},
      {{"t; python_version<'3'"},
       {"t; python_version<'4'"},
       "t ; python_version<'3' -> ; python_version<'4'"},
      {{}, {"a", "b", "c", "d", "e"}, "a added, b added, c added and 2 more"},
  };
  for (const auto& [before, now, told] : rows) {
    const auto& shown = told;
    const auto& old_lines = before;
    const auto& new_lines = now;
    CAPTURE(shown);
    const auto changes = after([&](Fixture& f) { require(f, new_lines); },
                               [&](Fixture& f) { require(f, old_lines); });
    CHECK(changes.dependencies == Texts{fmt::format("requirements.txt changed ({})", told)});
    CHECK(changes.code.empty());
  }
}

TEST_CASE("the file that changed is named, not the one that reads it") {
  const auto with_nested = [](const std::string& line) {
    return [line](Fixture& f) {
      f.project.requirement_inputs.emplace_back("base.txt");
      f.project.normalised_requirements = {line};
      f.tree.file("base.txt", line);
    };
  };
  const auto changes = after(
      [](Fixture& f) {
        f.project.normalised_requirements = {"numpy==2.2"};
        f.tree.file("base.txt", "numpy==2.2");
      },
      with_nested("numpy==2.1"));
  CHECK(changes.dependencies == Texts{"base.txt changed (numpy 2.1 -> 2.2)"});
}

TEST_CASE("every other input is reported by its name") {
  struct Row {
    std::string told;
    bool of_code;
    std::function<void(Fixture&)> apply;
  };

  const std::vector<Row> rows{
      {"--requirements changed (numpy >=1 -> >=2)", false,
       [](Fixture& f) { f.project.requirements = {"numpy >= 2"}; }},
      {"setup.py changed", false, [](Fixture& f) { f.tree.file("setup.py", "setup(1)\n"); }},
      {"the platform changed (linux/amd64 -> linux/arm64)", false,
       [](Fixture& f) { f.options.platform = "linux/arm64"; }},
      {"what apt installs changed (none -> git)", false,
       [](Fixture& f) { f.options.system_packages = {"git"}; }},
      {"how the project is installed changed", false,
       [](Fixture& f) { f.project.package->extras = {"gpu"}; }},
      {"the project's version changed (none -> 1.4)", false,
       [](Fixture& f) { f.project.package->version = "1.4"; }},
      {"trainer/task.py changed", true,
       [](Fixture& f) { f.tree.file("trainer/task.py", "print(2)\n"); }},
      {"trainer/task.py changed its mode", true,
       [](Fixture& f) { f.tree.file("trainer/task.py", "print(1)\n", true); }},
      {"trainer/new.py is new", true, [](Fixture& f) { f.tree.file("trainer/new.py", ""); }},
      {"the user changed (none -> 1000)", true, [](Fixture& f) { f.base.user = "1000"; }},
      {"the entry point changed (python3 trainer/task.py -> python3 -m trainer.task)", true,
       [](Fixture& f) {
         f.project.entry = {project::EntryKind::module, "trainer.task", "trainer/task.py"};
       }},
  };
  for (const auto& [told, of_code, apply] : rows) {
    const auto& shown = told;
    CAPTURE(shown);
    const auto changes = after(apply);
    CHECK((of_code ? changes.code : changes.dependencies).front() == told);
    CHECK((of_code ? changes.dependencies : Texts{}).empty());
  }
  const auto base = after([](Fixture& f) { f.base.digest = sha256("other"); });
  CHECK(base.dependencies.front().starts_with(
      "the executor image changed (example.org/base:1 sha256:"));
  const auto gone = after([](Fixture&) {}, [](Fixture& f) { f.tree.file("trainer/o.py", ""); });
  CHECK(gone.code.empty());
}

TEST_CASE("a file that is both an installation input and copied is reported once") {
  const auto changes =
      after([](Fixture& f) { require(f, {"six==2"}); }, [](Fixture& f) { require(f, {"six==1"}); });
  CHECK(changes.dependencies == Texts{"requirements.txt changed (six 1 -> 2)"});
  CHECK(changes.code.empty());
}

TEST_CASE("a new requirements file is reported once") {
  const auto with_file = [](Fixture& f) {
    f.project.requirement_inputs.emplace_back("more.txt");
    f.project.normalised_requirements.emplace_back("tqdm");
    f.tree.file("more.txt", "tqdm");
  };
  const auto added = after(with_file);
  CHECK(join(added.dependencies, "; ") == "more.txt is new (tqdm added)");
  CHECK(join(added.code, "; ").empty());
  const auto no_longer_read = after(
      [](Fixture& f) {
        f.project.requirement_inputs.pop_back();
        f.project.normalised_requirements.pop_back();
      },
      with_file);
  CHECK(join(no_longer_read.dependencies, "; ") == "more.txt changed (tqdm removed)");
  CHECK(join(no_longer_read.code, "; ").empty());
}

TEST_CASE("a comment is not a change") {
  const auto changes = after([](Fixture& f) { f.tree.file("requirements.txt", "six  # why\n"); });
  CHECK(changes.dependencies.empty());
  CHECK(changes.code.empty());
}

TEST_CASE("a large project is reported by its directories") {
  const auto large = [](Fixture& f) {
    for (int i = 0; i < 1100; ++i) {
      f.tree.file(fmt::format("trainer/f{}.py", i), "");
    }
  };
  Fixture fixture;
  large(fixture);
  CHECK(plan::record_of(fixture.plan(), fixture.project).code.size() < 10);
  const auto changes = after([](Fixture& f) { f.tree.file("trainer/f7.py", "x = 1\n"); }, large);
  CHECK(changes.code == Texts{"trainer/ changed"});
}

TEST_CASE("a record is kept for each project and platform, and holds no login") {
  const TemporaryDirectory directory;
  const state::BuildRecords records{directory.path() / "builds"};
  Fixture fixture;
  fixture.project.requirements = {"a @ https://me:s3cret@example.org/a.whl"};
  fixture.tree.file(std::string{"trainer/\xff.py"}, "");
  const auto record = plan::record_of(fixture.plan(), fixture.project);
  const std::string platform{"linux/amd64"};
  CHECK_FALSE(records.get(directory.path(), platform));
  CHECK(records.files_of(directory.path()).empty());
  records.put(directory.path(), platform, record);
  CHECK(records.get(directory.path(), platform) == record);
  CHECK(records.get(directory.path() / "." / "", platform) == record);
  CHECK_FALSE(records.get(directory.path() / "other", platform));
  CHECK_FALSE(records.get(directory.path(), "linux/arm64"));
  records.put(directory.path(), "linux/arm64", {});
  CHECK(records.get(directory.path(), platform) == record);
  CHECK(records.files_of(directory.path()).size() == 2);
  for (const auto& [name, value] : record.code) {
    CHECK(value.find("print") == std::string::npos);
  }
  REQUIRE(record.asked.size() == 1);
  CHECK(record.asked[0].find("s3cret") == std::string::npos);
}

}  // namespace autopack::plan_changes_test
