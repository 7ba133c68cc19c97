#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "source/git.hpp"
#include "source/remembering_tree.hpp"
#include "support/sample.hpp"
#include "support/scratch_repository.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <libdeflate.h>
#include <openssl/evp.h>

#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace autopack::source_git_test {

namespace fs = std::filesystem;

namespace {

using Repository = ScratchRepository;
using Listing = std::map<std::string, std::string>;

/// Returns every name with everything that matters to an image.
Listing listing(const source::Tree& tree) {
  Listing all;
  source::walk(
      tree, "", [](const source::Entry& entry) { return entry.path != ".git"; },
      [&](const source::Entry& entry) {
        std::string what;
        switch (entry.type) {
          case source::EntryType::directory: what = "directory"; break;
          case source::EntryType::symlink: what = "-> " + entry.link_target; break;
          case source::EntryType::other:
            what = "other: " + std::string{entry.obstacle->what};
            break;
          case source::EntryType::file: {
            const std::string text = tree.read(entry.path);
            CHECK(text.size() == entry.size);
            what = (entry.executable ? "program " : "file ") + sha256(text).str();
          }
        }
        CHECK(tree.find(entry.path)->type == entry.type);
        if (entry.path != ".git") {
          all[entry.path] = what;
        }
      });
  return all;
}

Listing listing(const fs::path& directory, const std::string& source, const Environment& env = {}) {
  return listing(*source::make_git_tree(directory, source, env));
}

std::string any_text(std::mt19937& random) {
  static const std::vector<std::string> parts{
      "line\n",   "line\r\n",           "\r", "$Id$\n", "$Id: old $\n",
      "\xff\xfe", std::string(1, '\0'), "",   "no end"};
  std::string text;
  for (auto left = random() % 9; left > 0; --left) {
    text += parts[random() % parts.size()];
  }
  return text;
}

/// Adds directories, programs, links and odd names.
void fill(const Repository& repository, std::mt19937& random) {
  static const std::vector<std::string> names{"a",      "a-b",      "a.txt",    "b.py",
                                              "sp ace", "\xc3\xa4", "\xff\xfe", "-x",
                                              "[1]",    "A.TXT",    "c.bin",    "\"q\""};
  for (int i = 0; i < 40; ++i) {
    fs::path place = repository.path;
    for (auto depth = random() % 4; depth > 0; --depth) {
      place /= "d" + names[random() % names.size()];
    }
    fs::create_directories(place);
    place /= names[random() % names.size()];
    if (fs::symlink_status(place).type() != fs::file_type::not_found) {
      continue;
    }
    if (random() % 6 == 0) {
      fs::create_symlink("../" + names[random() % names.size()], place);
      continue;
    }
    write_file(place, any_text(random));
    if (random() % 4 == 0) {
      fs::permissions(place, fs::perms::owner_exec, fs::perm_options::add);
    }
  }
}

std::string message_of(const fs::path& directory,
                       const std::string& source,
                       const Environment& environment = {}) {
  try {
    source::make_git_tree(directory, source, environment);
  } catch (const Error& error) {
    return error.message();
  }
  return "no error";
}

}  // namespace

TEST_CASE("index and commit hold what a clean checkout writes, whatever lies in the working tree") {
  static const std::vector<std::string> attributes{
      "",
      "* text=auto\n",
      "* text=auto eol=crlf\n*.bin binary\n",
      "*.txt text eol=crlf\n*.py text eol=lf\n",
      "*.t* text eol=crlf\n*.bin -text\n",
      "*.py -text\n* text=auto\n",
  };
  for (unsigned seed = 0; seed < testing::sample(6, 12); ++seed) {
    CAPTURE(seed);
    std::mt19937 random{seed};
    const TemporaryDirectory directory;
    const Repository origin{directory.path() / "origin"};
    fill(origin, random);
    if (!attributes[seed % attributes.size()].empty()) {
      origin.write(".gitattributes", attributes[seed % attributes.size()]);
    }
    if (seed % 5 == 4) {
      origin.write("da/.gitattributes", "*.txt -text\n");
    }
    origin.commit();
    const fs::path clean = directory.path() / "clean";
    const std::string line_ends = seed % 3 == 2 ? "true" : seed % 3 == 1 ? "input" : "false";
    origin.git(
        {"clone", "-q", "-c", "core.autocrlf=" + line_ends, origin.path.string(), clean.string()});
    const Listing expected = listing(*source::make_disk_tree(clean));
    CHECK(listing(clean, "HEAD") == expected);
    CHECK(listing(clean, "index") == expected);
    // Nothing of this is staged.
    write_file(clean / "new.py", "new");
    write_file(clean / ".gitattributes", "* text eol=crlf\n");
    for (const auto& [path, what] : expected) {
      if (what.starts_with("file ") && path != ".gitattributes") {
        write_file(clean / path, "changed");
        break;
      }
    }
    CHECK(listing(clean, "HEAD") == expected);
    CHECK(listing(clean, "index") == expected);
  }
}

TEST_CASE("a directory of a repository is a project, on the disk or not") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("sub/deep/a.py", "1");
  repository.write("sub-other/b.py", "2");
  repository.commit();
  repository.git({"tag", "-a", "-m", "x", "v1"});
  repository.git({"rm", "-rq", "sub"});
  repository.write("c.py", "3");
  repository.commit();
  CHECK(listing(repository.path / "sub", "v1").size() == 2);
  CHECK(listing(repository.path / "sub" / "deep", "main~1").contains("a.py"));
  CHECK(listing(repository.path, "HEAD").contains("c.py"));
  CHECK(message_of(repository.path / "sub", "HEAD").find("holds no file in `sub`") !=
        std::string::npos);
  CHECK(message_of(repository.path, "nothing").find("`nothing` names no commit") !=
        std::string::npos);
  CHECK(message_of(repository.path, "HEAD:c.py").find("names no commit") != std::string::npos);
  CHECK(message_of("/", "HEAD").find("is not in a git repository") != std::string::npos);
  const Repository fresh{directory.path() / "fresh"};
  CHECK(message_of(fresh.path, "HEAD").find("names no commit") != std::string::npos);
  CHECK(message_of(fresh.path, "index").find("holds no file") != std::string::npos);
  fresh.write("a", "1");
  fresh.git({"add", "a"});
  CHECK(listing(fresh.path, "index").size() == 1);
}

TEST_CASE("worktrees, bare repositories and git's variables are understood") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("sub/a.py", "1");
  repository.commit();
  const fs::path other = directory.path() / "other";
  repository.git({"worktree", "add", "-q", "-b", "side", other.string()});
  write_file(other / "sub" / "a.py", "side");
  repository.git({"-C", other.string(), "add", "-A"});
  CHECK(listing(other, "index") == listing(*source::make_disk_tree(other)));
  CHECK(listing(other, "HEAD") == listing(repository.path, "index"));

  const fs::path bare = directory.path() / "bare.git";
  repository.git({"clone", "-q", "--bare", repository.path.string(), bare.string()});
  CHECK(listing(bare, "main") == listing(repository.path, "main"));
  CHECK(listing(bare / "sub", "main") == listing(repository.path / "sub", "main"));

  const fs::path index = directory.path() / "partial";
  repository.write("b.py", "2");
  repository.git({"read-tree", "HEAD"}, {{"GIT_INDEX_FILE", index.string()}});
  repository.git({"add", "b.py"}, {{"GIT_INDEX_FILE", index.string()}});
  const Environment partial{{{"GIT_INDEX_FILE", index.string()}}};
  CHECK(listing(repository.path, "index", partial).contains("b.py"));
  CHECK_FALSE(listing(repository.path, "index").contains("b.py"));
  CHECK(source::find_git_facts(repository.path, "index", partial)->dirty);

  const Environment elsewhere{{{"GIT_DIR", (repository.path / ".git").string()}}};
  CHECK(message_of(directory.path(), "index", elsewhere).find("is not in the git repository") !=
        std::string::npos);
  const Environment moved{{{"GIT_DIR", (repository.path / ".git").string()},
                           {"GIT_WORK_TREE", directory.path().string()}}};
  CHECK(listing(directory.path() / "sub", "HEAD", moved).size() == 1);
  repository.git({"sparse-checkout", "set", "--no-cone", "/*"});
  CHECK(listing(repository.path, "HEAD").contains("sub/a.py"));
}

TEST_CASE("files that git's objects do not contain are reported, and not used") {
  const TemporaryDirectory directory;
  const Repository library{directory.path() / "library"};
  library.write("a", "1");
  library.commit();
  const Repository repository{directory.path() / "r"};
  repository.git({"submodule", "add", "-q", library.path.string(), "lib"});
  const std::string text = "weights";
  const std::string object = sha256(text).hex();
  const auto pointer = [](const std::string& digest) {
    return "version https://git-lfs.github.com/spec/v1\noid sha256:" + digest + "\nsize 7\n";
  };
  repository.write("here.bin", pointer(object));
  repository.write("gone.bin", pointer(sha256("other").hex()));
  repository.write("utf16.txt", "x");
  repository.write("foreign.txt", "x");
  repository.write("idle.txt", "x");
  repository.write("ident.txt", "$Id$ $Id$");
  repository.write("no-ident.txt", "x");
  repository.commit();
  repository.write(".gitattributes",
                   "*.bin filter=lfs -text\nutf16.txt working-tree-encoding=UTF-16\n"
                   "foreign.txt filter=rot\nidle.txt filter=unset\n*ident.txt ident\n");
  repository.git({"add", ".gitattributes"});
  repository.git({"config", "filter.rot.smudge", "tr a-z b-za"});
  repository.write("later.txt", "x");
  repository.git({"add", "-N", "later.txt"});
  write_file(repository.path / ".git" / "lfs" / "objects" / object.substr(0, 2) /
                 object.substr(2, 2) / object,
             text);
  const auto tree = source::make_git_tree(repository.path, "index", {});
  for (const char* name : {"lib", "gone.bin", "utf16.txt", "foreign.txt", "ident.txt"}) {
    CAPTURE(name);
    CHECK(tree->find(name)->type == source::EntryType::other);
    CHECK(tree->find(name)->obstacle->remedy);
    CHECK_THROWS_AS(tree->read(name), Error);
  }
  CHECK(tree->read("here.bin") == text);
  CHECK(tree->find("here.bin")->size == text.size());
  CHECK(tree->read("idle.txt") == "x");
  CHECK(tree->read("no-ident.txt") == "x");
  CHECK_FALSE(tree->find("later.txt"));
  CHECK_THROWS_AS(tree->read("later.txt"), Error);
}

TEST_CASE("a truncated git object is reported, without waiting") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("a.txt", "some text\n");
  repository.write("d/b.txt", std::string(100'000, 'x'));
  repository.commit();
  const auto read_all = [&] {
#ifdef __SANITIZE_ADDRESS__
    // libgit2 1.5 forgets entries that it has read if git_tree_walk ends early.
    const __lsan::ScopedDisabler not_ours;
#endif
    source::find_git_facts(repository.path, "HEAD", {});
    listing(*source::make_git_tree(repository.path, "HEAD", {}));
  };
  CHECK_NOTHROW(read_all());
  std::size_t damaged = 0;
  for (const auto& entry : fs::recursive_directory_iterator{repository.path / ".git" / "objects"}) {
    if (!entry.is_regular_file()) {
      continue;
    }
    const std::string whole = read_file(entry.path());
    fs::permissions(entry.path(), fs::perms::owner_all);
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, whole.size() / 2, whole.size() - 1}) {
      write_file(entry.path(), whole.substr(0, size));
      CAPTURE(entry.path());
      CAPTURE(size);
      try {
        read_all();
        FAIL("it was read");
      } catch (const Error& error) {
        ++damaged;
        const std::string causes = join(error.causes(), "\n");
        CHECK(causes.find("git fsck") != std::string::npos);
        CHECK(causes.find(entry.path().filename().string()) != std::string::npos);
      }
    }
    write_file(entry.path(), whole);
  }
  CHECK(damaged == 5 * 4);
  const std::string id = repository.git({"rev-parse", "--short", "HEAD"});
  CHECK_NOTHROW(source::make_git_tree(repository.path, id, {}));
}

TEST_CASE("a git object with other content than its header says is reported, not read") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("a.txt", "text\n");
  repository.commit();
  const std::string id = repository.git({"rev-parse", "HEAD:a.txt"});
  const fs::path file = repository.path / ".git/objects" / id.substr(0, 2) / id.substr(2);
  fs::permissions(file, fs::perms::owner_all);
  const auto read_with = [&](const std::string& object) {
    CAPTURE(object);
    const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor{
        libdeflate_alloc_compressor(1), libdeflate_free_compressor};
    std::string bytes(1000, '\0');
    bytes.resize(libdeflate_zlib_compress(compressor.get(), object.data(), object.size(),
                                          bytes.data(), bytes.size()));
    write_file(file, bytes);
    return source::make_git_tree(repository.path, "HEAD", {})->read("a.txt");
  };
  using namespace std::string_literals;
  CHECK(read_with("blob 5\0text\n"s) == "text\n");
  for (const auto& object : {"blob 4\0text\n"s, "blob 6\0text\n"s, "blob 1\0"s, "blob -5\0text\n"s,
                             "blob 99999999999999999999\0text\n"s, "blot 5\0text\n"s, "blob 5"s,
                             "blob "s + std::string(100, '0') + "5\0text\n"s}) {
    CHECK_THROWS_AS(static_cast<void>(read_with(object)), Error);
  }
}

TEST_CASE("an index with invalid paths is reported, without an endless walk") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("ax", "text\n");
  repository.commit();
  const fs::path file = repository.path / ".git/index";
  constexpr std::size_t checksum_size = 20;
  for (const std::string_view name : {"/x", "a/", "..", "x/"}) {
    std::string bytes = read_file(file);
    bytes.resize(bytes.size() - checksum_size);
    bytes.replace(12 + 62, 2, name);  // after the header, and an entry's fixed part
    std::string checksum(checksum_size, '\0');
    EVP_Digest(bytes.data(), bytes.size(), reinterpret_cast<unsigned char*>(checksum.data()),
               nullptr, EVP_sha1(), nullptr);
    write_file(file, bytes + checksum);
    CAPTURE(name);
    CHECK_THROWS_AS(listing(repository.path, "index"), Error);
  }
}

TEST_CASE("objects of another repository are found, however often its place is named") {
  const TemporaryDirectory directory;
  const Repository lender{directory.path() / "lender"};
  lender.write("a.py", "text\n");
  lender.commit();
  const Repository repository{directory.path() / "repository"};
  const std::string place = (lender.path / ".git/objects").string() + "\n";
  repository.write(".git/objects/info/alternates", place);
  repository.git({"update-ref", "refs/heads/main", lender.git({"rev-parse", "main"})});
  std::string places;
  for (int i = 0; i < 200; ++i) {
    places += ".\n" + place;
  }
  repository.write(".git/objects/info/alternates", places);
  lender.write(".git/objects/info/alternates", places);
  CHECK(listing(repository.path, "main").contains("a.py"));
}

TEST_CASE(
    "attributes of patterns that libgit2 misreads are refused where they change what is checked "
    "out") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("a b.txt", "text\n");
  repository.write(".gitattributes", "*.txt text\n\"a b.txt\" diff=x\n");
  repository.commit();
  CHECK_NOTHROW(source::make_git_tree(repository.path, "HEAD", {}));
  repository.write(".gitattributes", "*.txt text\n\"a b.txt\" filter=lfs -text\n");
  repository.commit();
  CHECK_THROWS_WITH_AS(source::make_git_tree(repository.path, "HEAD", {}),
                       "`.gitattributes` line 2 has a quoted pattern, which autopack cannot follow",
                       Error);
  for (const char* text :
       {"\"a b.txt\" binary\n", "[attr]ours -text\n\"a b.txt\"\tours\r\n", "!h text eol=crlf\n"}) {
    repository.write(".gitattributes", text);
    repository.commit();
    CHECK_THROWS_AS(source::make_git_tree(repository.path, "HEAD", {}), Error);
  }
  repository.write(".gitattributes", "");
  repository.commit();
  write_file(repository.path / ".git/info/attributes", "\"a b.txt\" eol=crlf\n");
  CHECK_THROWS_AS(source::make_git_tree(repository.path, "HEAD", {}), Error);
}

TEST_CASE("a conflict is reported, and not used") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("a", "1");
  repository.commit();
  repository.git({"checkout", "-q", "-b", "side"});
  repository.write("a", "2");
  repository.commit();
  repository.git({"checkout", "-q", "main"});
  repository.write("a", "3");
  repository.commit();
  run_process({"git", "-C", repository.path.string(), "-c", "user.name=A", "-c",
               "user.email=a@example.com", "merge", "-q", "side"},
              "");
  const auto tree = source::make_git_tree(repository.path, "index", {});
  CHECK(tree->list("").size() == 1);
  CHECK(tree->find("a")->obstacle->what.find("conflict") != std::string::npos);
  CHECK_THROWS_AS(source::read_git_file(repository.path / "a", "index", {}), Error);
}

TEST_CASE("one file is read as a checkout would write it, or refused") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("sub/a.yaml", "one\n");
  repository.write("b.txt", "1\n");
  repository.write(".gitattributes", "b.txt text eol=crlf\n");
  fs::create_symlink("b.txt", repository.path / "link");
  repository.commit();
  const auto read = [&](const fs::path& path, const std::string& source) {
    return source::read_git_file(repository.path / path, source, {});
  };
  repository.write("sub/a.yaml", "two\n");
  CHECK(read("sub/a.yaml", "index") == "one\n");
  repository.git({"add", "-A"});
  CHECK(read("sub/a.yaml", "index") == "two\n");
  CHECK(read("sub/a.yaml", "HEAD") == "one\n");
  CHECK(read("b.txt", "HEAD") == "1\r\n");
  repository.write("later", "x");
  repository.git({"add", "-N", "later"});
  for (const char* absent : {"nothing", "later", "gone/a.yaml", "sub"}) {
    CAPTURE(absent);
    CHECK_FALSE(read(absent, "index"));
  }
  CHECK_THROWS_AS(read("link", "HEAD"), Error);
  CHECK_THROWS_AS(read("b.txt", "nothing"), Error);
  CHECK(source::is_in_git(repository.path / "sub", {}));
  CHECK_FALSE(source::is_in_git("/", {}));
  CHECK_THROWS_AS(source::read_git_file("/a", "HEAD", {}), Error);
}

TEST_CASE("unfiltered contents are known by their blobs") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  repository.write("a", "1\n");
  repository.write("b", "1\n");
  repository.write("c.txt", "1\n");
  repository.write(".gitattributes", "c.txt text eol=crlf\n");
  repository.commit();
  const std::shared_ptr<const source::Tree> tree =
      source::make_git_tree(repository.path, "HEAD", {});
  CHECK(tree->find("a")->identity == tree->find("b")->identity);
  CHECK(tree->find("a")->identity);
  CHECK_FALSE(tree->find("c.txt")->identity);
  const auto kept = source::remembering(tree);
  for (int i = 0; i < 2; ++i) {
    CHECK(kept->list("") == tree->list(""));
  }
}

TEST_CASE("git's facts: revision, remote without credentials, dirtiness of the directory") {
  const TemporaryDirectory directory;
  const Repository repository{directory.path() / "r"};
  const auto facts = [&](const std::string& source, const std::string& below = ".") {
    return *source::find_git_facts(repository.path / below, source, {});
  };
  repository.write("sub/a", "1");
  CHECK_FALSE(facts("worktree").revision);
  CHECK(facts("worktree").dirty);
  repository.commit();
  const std::string head = repository.git({"rev-parse", "HEAD"});
  CHECK(facts("worktree").revision == head);
  CHECK(facts("index").revision == head);
  CHECK(facts("HEAD").revision == head);
  CHECK_FALSE(facts("HEAD").remote);
  CHECK_FALSE(facts("worktree").dirty);
  CHECK_FALSE(facts("index").dirty);
  repository.git({"remote", "add", "up", "https://me:word@example.com/r.git"});
  CHECK(facts("HEAD").remote == "https://example.com/r.git");
  repository.git({"remote", "add", "origin", "git@example.com:r.git"});
  CHECK(facts("HEAD").remote == "git@example.com:r.git");
  repository.git({"config", "branch.main.remote", "up"});
  CHECK(facts("HEAD").remote == "https://example.com/r.git");
  repository.write("sub/a", "2");
  CHECK(facts("worktree").dirty);
  CHECK_FALSE(facts("index").dirty);
  repository.git({"add", "-A"});
  CHECK(facts("index").dirty);
  CHECK_FALSE(facts("HEAD").dirty);
  repository.commit();
  repository.write("outside", "3");
  CHECK(facts("worktree").dirty);
  CHECK_FALSE(facts("worktree", "sub").dirty);
  CHECK_FALSE(source::find_git_facts("/", "worktree", {}));
}

}  // namespace autopack::source_git_test
