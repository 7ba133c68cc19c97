#include "source/git.hpp"
#include "support/scratch_repository.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace autopack::source_git_describe_test {

using source::GitTagQuery;

namespace {

/// Returns `tag at-tag dirty`, `-` for no tag.
std::string described(const ScratchRepository& repository,
                      const std::string& source = "worktree",
                      const GitTagQuery& query = {}) {
  const auto found = source::describe_in_git(repository.path, source, Environment{}, query);
  REQUIRE(found);
  return found->tag.value_or("-") + (found->at_tag ? " at" : "") + (found->dirty ? " dirty" : "");
}

}  // namespace

TEST_CASE("tags are found as git describe finds them") {
  const TemporaryDirectory directory;
  const ScratchRepository repository{directory.path() / "r"};
  CHECK(described(repository) == "-");  // there is no commit
  repository.write("a.py", "1\n");
  repository.commit();
  CHECK(described(repository) == "-");
  repository.git({"tag", "v1.0"});
  CHECK(described(repository) == "v1.0 at");
  repository.git({"tag", "-a", "-m", "annotated", "data-7"});
  CHECK(described(repository) == "data-7 at");  // an annotated one takes precedence
  CHECK(described(repository, "worktree", {.match = "v*"}) == "v1.0 at");
  CHECK(described(repository, "worktree", {.match = "w*"}) == "-");
  repository.git({"checkout", "-q", "-b", "feature/x"});
  repository.write("a.py", "2\n");
  repository.commit();
  repository.git({"tag", "v1.1-rc-1"});
  repository.commit();
  CHECK(described(repository) == "v1.1-rc-1");
  CHECK(described(repository, "HEAD~1") == "v1.1-rc-1 at");
  CHECK(described(repository, "v1.0") == "data-7 at");
  CHECK(source::describe_in_git(repository.path, "worktree", Environment{}, {})->branch ==
        "feature/x");
  repository.git({"checkout", "-q", "main"});
  repository.commit();
  repository.git({"merge", "-q", "--no-ff", "-m", "x", "feature/x"});
  // Commits of one second may be counted in either order.
  CHECK(described(repository) == repository.git({"describe", "--tags", "--abbrev=0"}));
  CHECK(described(repository, "worktree", {.first_parent = true}) == "data-7");
}

TEST_CASE("changed files of a tag are not the tag's") {
  const TemporaryDirectory directory;
  const ScratchRepository repository{directory.path() / "r"};
  repository.write("a.py", "1\n");
  repository.commit();
  repository.git({"tag", "v1.0"});
  repository.write("new.py", "");
  CHECK(described(repository) == "v1.0 at");
  repository.write("a.py", "2\n");
  CHECK(described(repository) == "v1.0 at dirty");
  CHECK(described(repository, "index") == "v1.0 at");
  CHECK(described(repository, "HEAD") == "v1.0 at");
  repository.git({"add", "a.py"});
  CHECK(described(repository, "index") == "v1.0 at dirty");
}

TEST_CASE("a shallow clone without tags says so") {
  const TemporaryDirectory directory;
  const ScratchRepository repository{directory.path() / "r"};
  repository.commit();
  repository.git({"tag", "v1.0"});
  repository.commit();
  const auto clone = directory.path() / "clone";
  repository.git({"clone", "-q", "--depth=1", "--no-tags", "file://" + repository.path.string(),
                  clone.string()});
  const auto found = source::describe_in_git(clone, "worktree", Environment{}, {});
  REQUIRE(found);
  CHECK(found->shallow);
  CHECK_FALSE(found->tag);
  CHECK_FALSE(source::describe_in_git(directory.path(), "worktree", Environment{}, {}));
}

}  // namespace autopack::source_git_describe_test
