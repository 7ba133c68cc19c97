#include "plan/install_record.hpp"
#include "plan_fixture.hpp"

#include <doctest/doctest.h>

#include <string>

namespace autopack::plan_install_record_test {

using plan::Fixture;

namespace {

std::string hash(const std::string& text) {
  return sha256(text).hex();
}

/// A record of an installation of the fixture's files, with `whole` as JSON.
std::string record_text(const std::string& whole, const std::string& tree) {
  return R"({"format":1,"reads":{"setup.py":[")" + hash("setup()\n") +
         R"(","Python"],"notes.md":[")" + hash("notes") +
         R"(","setup.py"]},"asks":{"trainer":["d","setuptools"],"VERSION":["-","setup.py"]},)" +
         R"("lists":[["wheels",true,")" + hash("a-1-py3-none-any.whl") +
         R"(","setup.py"],["",false,")" + hash("setup.py\nshared\ntrainer\nwheels") +
         R"(","setuptools"]],"removed":[],"tree":")" + tree + R"(","whole":)" + whole +
         R"(,"written":["z.py","a.egg-info/PKG-INFO"]})";
}

std::optional<std::string> outdated(const Fixture& fixture, const std::string& whole = "null") {
  Fixture before;
  before.project.package->installs = true;
  const auto record =
      plan::parse_install_record(record_text(whole, plan::code_digest(before.plan())));
  REQUIRE(record);
  return plan::why_outdated(*record, fixture.plan());
}

}  // namespace

TEST_CASE("an installation holds while what it looked at is the same") {
  Fixture fixture;
  fixture.project.package->installs = true;
  CHECK_FALSE(outdated(fixture));
  fixture.tree.file("trainer/task.py", "print(2)\n")
      .file("trainer/new.py", "")
      .file("README.md", "")
      .file("shared/deep/x.txt", "");
  CHECK_FALSE(outdated(fixture));
  CHECK(outdated(fixture, R"(["make","setup.py"])") ==
        "setup.py starts `make`, which may read any file, and one changed");
}

TEST_CASE("why a package is installed again") {
  struct Case {
    std::string expected{};
    void (*change)(Fixture&){};
  };

  const std::vector<Case> cases{
      {"setup.py reads notes.md, which changed",
       [](Fixture& f) { f.tree.file("notes.md", "other"); }},
      {"Python reads setup.py, which changed",
       [](Fixture& f) { f.tree.file("setup.py", "setup(1)\n"); }},
      {"setup.py looks for VERSION, which is new", [](Fixture& f) { f.tree.file("VERSION", "1"); }},
      {"setup.py lists wheels, which holds other names now",
       [](Fixture& f) { f.tree.file("wheels/b", ""); }},
      {"setuptools lists ., which holds other names now",
       [](Fixture& f) { f.tree.file("more/__init__.py", ""); }},
      {"setuptools lists ., which holds other names now",
       [](Fixture& f) { f.tree.file("module.py", ""); }},
  };
  for (const Case& one : cases) {
    Fixture fixture;
    fixture.project.package->installs = true;
    one.change(fixture);
    CHECK(outdated(fixture) == one.expected);
  }
}

TEST_CASE("a record that is none is not believed") {
  for (
      const char* const text :
      {"", "[]", "{}", R"({"format":2})", R"({"format":1,"reads":[]})",
       R"({"format":1,"reads":{"a":[1]},"asks":{},"lists":[],"whole":null,"tree":"","written":[]})"}) {
    CHECK_FALSE(plan::parse_install_record(text));
  }
  const auto record = plan::parse_install_record(record_text("null", ""));
  REQUIRE(record);
  CHECK(record->written == std::vector<std::string>{"a.egg-info/PKG-INFO", "z.py"});
}

TEST_CASE("a record of what was looked at holds until that changes") {
  Fixture fixture;
  fixture.project.package->installs = true;
  const project::LookedAt looked{
      .read = {"setup.py", "notes.md"}, .asked = {"setup.py", "src", "trainer"}, .listed = {""}};
  const auto text = plan::write_install_record(fixture.plan(), looked, "setuptools.build_meta");
  const auto record = plan::parse_install_record(text);
  REQUIRE(record);
  CHECK(record->written.empty());
  CHECK_FALSE(plan::why_outdated(*record, fixture.plan()));
  fixture.tree.file("trainer/task.py", "print(2)\n");
  CHECK_FALSE(plan::why_outdated(*record, fixture.plan()));
  Fixture edited = fixture;
  edited.tree.file("notes.md", "other");
  CHECK(plan::why_outdated(*record, edited.plan()) ==
        "pyproject.toml reads notes.md, which changed");
  edited = fixture;
  edited.tree.file("src/a.py", "");
  CHECK(plan::why_outdated(*record, edited.plan()) == "setuptools looks for src, which is new");
  edited = fixture;
  edited.tree.file("more/a.py", "");
  CHECK(plan::why_outdated(*record, edited.plan()) ==
        "setuptools lists ., which holds other names now");
}

}  // namespace autopack::plan_install_record_test
