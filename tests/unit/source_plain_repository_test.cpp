#include "base/file.hpp"
#include "source/git_work_tree.hpp"
#include "source/unread_git_settings.hpp"
#include "support/scratch_repository.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace autopack::source_plain_repository_test {

namespace fs = std::filesystem;

namespace {

struct Fixture {
  TemporaryDirectory directory{};
  ScratchRepository repository{directory.path() / "r"};
  fs::path home{directory.path() / "home"};

  std::optional<source::PlainRepository> find(
      const std::string& below = "",
      std::map<std::string, std::string, std::less<>> variables = {}) const {
    variables.emplace("HOME", home.string());
    return source::find_plain_repository(repository.path / below, Environment{variables});
  }
};

void append(const fs::path& file, const std::string& text) {
  write_file(file, read_file_if_exists(file).value_or("") + text);
}

}  // namespace

TEST_CASE("a repository as git makes it is plain, from each of its directories") {
  const Fixture fixture;
  fixture.repository.write("a/b/c.py", "");
  append(fixture.home / ".gitconfig", "[user]\n\tname = N\n[core]\n\teditor = vi\n");
  const auto root = fs::canonical(fixture.repository.path);
  for (const char* below : {"", "a", "a/b"}) {
    CAPTURE(below);
    const auto found = fixture.find(below);
    REQUIRE(found);
    CHECK(found->work_tree == root);
    CHECK(found->directory == root / ".git");
  }
  CHECK_FALSE(fixture.find("gone"));
}

TEST_CASE("libgit2 is asked of a repository that settings or its place make another") {
  struct Case {
    std::string name;
    std::function<void(const Fixture& fixture, const fs::path& git)> change;
  };

  const auto setting = [](const std::string& text) {
    return [text](const Fixture&, const fs::path& git) { append(git / "config", text); };
  };
  const std::vector<Case> cases{
      {"letters of either case", setting("[core]\n\tignoreCase = true\n")},
      {"a file of patterns", setting("[core]\n\texcludesFile = x\n")},
      {"settings elsewhere", setting("[include]\n\tpath = x\n")},
      {"a work tree elsewhere", setting("[core]\n\tworktree = ..\n")},
      {"an extension", setting("[extensions]\n\tobjectformat = sha256\n")},
      {"a bare one", setting("[core]\n\tbare = true\n")},
      {"bare without a value", setting("[core]\n\tbare\n")},
      {"a later format",
       [](const auto& fixture, const auto&) {
         fixture.repository.git({"config", "core.repositoryformatversion", "1"});
       }},
      {"the user's patterns",
       [](const auto& fixture, const auto&) {
         append(fixture.home / ".gitconfig", "[core] excludesfile = ~/ignore\n");
       }},
      {"the user's patterns, in the other place",
       [](const auto& fixture, const auto&) {
         append(fixture.home / ".config" / "git" / "config", "[core]\nignorecase\n");
       }},
      {"settings of the work tree",
       [](const auto&, const auto& git) { append(git / "config.worktree", ""); }},
      {"one of several work trees",
       [](const auto&, const auto& git) { append(git / "commondir", ".."); }},
      {"no objects", [](const auto&, const auto& git) { fs::remove_all(git / "objects"); }},
      {"no HEAD", [](const auto&, const auto& git) { fs::remove(git / "HEAD"); }},
      {"a link to it",
       [](const auto&, const auto& git) {
         fs::rename(git, git.parent_path().parent_path() / "moved");
         fs::create_directory_symlink("../moved", git);
       }},
      {"a file that names it",
       [](const auto&, const auto& git) {
         fs::rename(git, git.parent_path().parent_path() / "moved");
         append(git, "gitdir: ../moved\n");
       }},
      {"a bare one on the way",
       [](const auto&, const auto& git) {
         append(git.parent_path() / "a" / "HEAD", "ref: refs/heads/main\n");
       }},
  };
  for (const auto& one : cases) {
    CAPTURE(one.name);
    const Fixture fixture;
    fixture.repository.write("a/b.py", "");
    REQUIRE(fixture.find("a"));
    one.change(fixture, fixture.repository.path / ".git");
    CHECK_FALSE(fixture.find("a"));
  }
}

TEST_CASE("libgit2 is used if variables select another repository") {
  const Fixture fixture;
  for (const char* name :
       {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_CEILING_DIRECTORIES"}) {
    CAPTURE(name);
    CHECK_FALSE(fixture.find("", {{name, "/x"}}));
  }
  append(fixture.directory.path() / "other" / "git" / "config", "[core]\nignorecase=1\n");
  CHECK(fixture.find());
  CHECK_FALSE(
      fixture.find("", {{"XDG_CONFIG_HOME", (fixture.directory.path() / "other").string()}}));
}

TEST_CASE("of another user's repository the ignore files and the index are read, with a warning") {
  if (::geteuid() != 0) {
    return;  // only root can give files away
  }
  const Fixture fixture;
  const auto& root = fixture.repository.path;
  fixture.repository.write(".gitignore", "*.bin\n");
  fixture.repository.write("sub/tracked.bin", "");
  fixture.repository.git({"add", "-f", "sub/tracked.bin"});
  constexpr uid_t other{4711};
  REQUIRE(::chown(root.c_str(), other, other) == 0);
  for (const auto& entry : fs::recursive_directory_iterator{root}) {
    REQUIRE(::lchown(entry.path().c_str(), other, other) == 0);
  }
  const Environment environment{{{"HOME", fixture.home.string()}}};
  const auto git = source::find_git_work_tree(root / "sub", environment);
  REQUIRE(git);
  REQUIRE_FALSE(git->outside.empty());
  CHECK(git->outside[0].text == "*.bin\n");
  CHECK(git->tracked("") == std::vector<std::string>{"tracked.bin"});
  const auto warning = source::unread_git_settings(root / "sub", environment);
  REQUIRE(warning);
  CHECK(warning->message.find("belongs to somebody else") != std::string::npos);
  REQUIRE(warning->hints.size() == 1);
  CHECK(warning->hints[0] == "if you trust its owner: git config --global --add safe.directory " +
                                 fs::canonical(root).string());
}

}  // namespace autopack::source_plain_repository_test
