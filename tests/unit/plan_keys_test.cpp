#include "plan_fixture.hpp"

#include <doctest/doctest.h>

#include <functional>

namespace autopack::plan_keys_test {

using autopack::plan::Fixture;

namespace {

enum class Moves { nothing, image, both };

struct Change {
  const char* what;
  Moves moves;
  std::function<void(Fixture&)> apply;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all{
      {"code", Moves::image, [](Fixture& f) { f.tree.file("trainer/task.py", "print(2)\n"); }},
      {"an extra directory's file", Moves::image,
       [](Fixture& f) { f.tree.file("shared/x.py", "x = 2\n"); }},
      {"a new file in the code", Moves::image, [](Fixture& f) { f.tree.file("trainer/n.py", ""); }},
      {"an empty directory", Moves::image, [](Fixture& f) { f.tree.directory("trainer/empty"); }},
      {"the executable bit", Moves::image,
       [](Fixture& f) { f.tree.file("trainer/task.py", "print(1)\n", true); }},
      {"a link", Moves::image, [](Fixture& f) { f.tree.symlink("trainer/l", "task.py"); }},
      {"the entry", Moves::image,
       [](Fixture& f) {
         f.project.entry = {project::EntryKind::module, "trainer.task", "trainer/task.py"};
       }},
      {"the user", Moves::image, [](Fixture& f) { f.base.user = "1000"; }},
      {"a file beside the code", Moves::image, [](Fixture& f) { f.tree.file("notes.md", "more"); }},
      {"a comment in the requirements", Moves::nothing,
       [](Fixture& f) { f.tree.file("requirements.txt", "six  # why\n\n"); }},
      {"white space in a requirement", Moves::nothing,
       [](Fixture& f) { f.project.requirements = {" numpy >= 1 "}; }},
      {"the name of the base", Moves::nothing,
       [](Fixture& f) { f.base.reference = "example.org/base:2"; }},
      {"warnings", Moves::nothing,
       [](Fixture& f) { f.project.warnings.push_back({.message = "w"}); }},
      {"a requirement line", Moves::both,
       [](Fixture& f) { f.project.normalised_requirements = {"six==1"}; }},
      {"a requirement flag", Moves::both,
       [](Fixture& f) { f.project.requirements = {"numpy>=2"}; }},
      {"a local wheel's bytes", Moves::both,
       [](Fixture& f) { f.tree.file("wheels/a-1-py3-none-any.whl", "other"); }},
      {"setup.py", Moves::both, [](Fixture& f) { f.tree.file("setup.py", "setup(1)\n"); }},
      {"the base", Moves::both, [](Fixture& f) { f.base.digest = sha256("other base"); }},
      {"the platform", Moves::both, [](Fixture& f) { f.options.platform = "linux/arm64"; }},
      {"a system package", Moves::both, [](Fixture& f) { f.options.system_packages = {"git"}; }},
      {"hashes", Moves::both, [](Fixture& f) { f.project.hashed = true; }},
      {"an installation", Moves::both, [](Fixture& f) { f.project.package->installs = true; }},
      {"what the package needs", Moves::both,
       [](Fixture& f) { f.project.package->requirements = {"six"}; }},
      {"a build that is not isolated", Moves::both,
       [](Fixture& f) { f.project.package->isolated = false; }},
      {"the package's extras", Moves::both,
       [](Fixture& f) { f.project.package->extras = {"gpu"}; }},
      {"a prebuilt base's hook", Moves::both, [](Fixture& f) { f.base.vertex_prebuilt = true; }},
  };
  return all;
}

}  // namespace

TEST_CASE("plan: each change moves exactly the keys that depend on it") {
  const plan::ReadablePlan before = Fixture{}.plan();
  CHECK(before.keys->dependencies.size() == 64);
  CHECK(before.keys->image.size() == 64);
  CHECK(before.keys->dependencies != before.keys->image);
  for (const Change& change : changes()) {
    CAPTURE(change.what);
    Fixture changed;
    change.apply(changed);
    const plan::ReadablePlan after = changed.plan();
    CHECK((after.keys->dependencies != before.keys->dependencies) == (change.moves == Moves::both));
    CHECK((after.keys->image != before.keys->image) == (change.moves != Moves::nothing));
  }
}

TEST_CASE("plan: without contents nothing is read and no key is made") {
  Fixture fixture;
  fixture.options.contents = false;
  const auto tree = std::make_shared<source::MemoryTree>(fixture.tree);
  const plan::ReadablePlan plan =
      plan::make_plan(tree, fixture.project, fixture.request, fixture.base, fixture.options);
  CHECK(tree->reads().empty());
  CHECK_FALSE(plan.keys);
  CHECK(plan.dockerfile == Fixture{}.plan().dockerfile);
}

}  // namespace autopack::plan_keys_test
