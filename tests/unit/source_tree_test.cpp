#include "base/descriptor.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "source/counted_tree.hpp"
#include "source/remembering_tree.hpp"
#include "source/tree.hpp"
#include "support/memory_tree.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace autopack::source_tree_test {

using namespace autopack::source;
namespace fs = std::filesystem;

namespace {

std::string names(const std::vector<Entry>& entries) {
  std::string text;
  for (const auto& entry : entries) {
    text += entry.path + " ";
  }
  return text;
}

std::string walked(const Tree& tree, std::string_view path, const std::string& closed = {}) {
  std::vector<Entry> entries;
  walk(
      tree, path, [&](const Entry& directory) { return directory.path != closed; },
      [&](const Entry& entry) { entries.push_back(entry); });
  return names(entries);
}

/// A tree that supports listing in threads; `broken` cannot be listed.
class WideTree final : public Tree {
public:
  explicit WideTree(std::string broken = {}) : broken_{std::move(broken)} {
    for (int i = 0; i < 60; ++i) {
      const std::string name = "d" + std::to_string(100 + i);
      tree_.file(name + "/a.py", "a").file(name + "/sub/b.py", "b").file(name + ".txt", "t");
    }
  }

  std::optional<Entry> find(std::string_view path) const override { return tree_.find(path); }

  std::vector<Entry> list(std::string_view path) const override {
    if (!broken_.empty() && path == broken_) {
      throw Error(ErrorKind::project, "could not read `" + std::string{path} + "`");
    }
    const std::lock_guard lock{mutex_};
    return tree_.list(path);
  }

  std::string read(std::string_view path) const override { return tree_.read(path); }

  void stream(std::string_view path,
              const std::function<void(std::string_view)>& take) const override {
    tree_.stream(path, take);
  }

  std::string describe() const override { return "wide"; }

  bool lists_in_threads() const override { return true; }

  const MemoryTree& alone() const { return tree_; }

private:
  std::string broken_;
  mutable std::mutex mutex_{};
  MemoryTree tree_{};
};

std::string message_of(const std::function<void()>& act, ErrorKind kind) {
  try {
    act();
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.message();
  }
  return "no error";
}

}  // namespace

TEST_CASE("normalise keeps paths inside the root") {
  CHECK(normalise("") == "");
  CHECK(normalise(".") == "");
  CHECK(normalise("./a//b/../c") == "a/c");
  CHECK(normalise("a/") == "a");
  CHECK(normalise("a/..") == "");
  CHECK(normalise("a/../b") == "b");
  CHECK(normalise("...") == "...");
  CHECK_FALSE(normalise(".."));
  CHECK_FALSE(normalise("a/../../a"));
  CHECK_FALSE(normalise("/a"));
}

TEST_CASE("walk goes a directory before what is in it") {
  MemoryTree tree{{"a.py", ""}, {"a/z.py", ""}, {"a/b/c.py", ""}, {"b.py", ""}};
  tree.symlink("link", "a");
  CHECK(walked(tree, "") == "a a/b a/b/c.py a/z.py a.py b.py link ");
  CHECK(walked(tree, "a") == "a/b a/b/c.py a/z.py ");
  CHECK(walked(tree, "", "a") == "a a.py b.py link ");
  CHECK(walked(tree, "nowhere").empty());
}

TEST_CASE("a disk tree lists entries and does not follow links") {
  const TemporaryDirectory directory;
  const fs::path root = directory.path() / "root";
  write_file(root / "sub" / "run.sh", "#!/bin/sh\n");
  write_file(root / "sub" / "data", "12345");
  write_file(directory.path() / "outside" / "secret", "secret");
  fs::permissions(root / "sub" / "run.sh", fs::perms{0744});
  fs::create_symlink("../outside", root / "out");
  fs::create_symlink("sub/data", root / "in");
  REQUIRE(::mkfifo((root / "pipe").c_str(), 0600) == 0);
  const auto tree = make_disk_tree(root);

  CHECK(names(tree->list("")) == "in out pipe sub ");
  CHECK(names(tree->list("sub")) == "sub/data sub/run.sh ");
  CHECK(tree->list("out").empty());
  CHECK(tree->list("in").empty());
  CHECK(tree->list("nowhere").empty());
  CHECK(tree->list("sub/..").empty());

  CHECK(tree->find("")->type == EntryType::directory);
  CHECK(tree->find("sub/data")->size == 5);
  CHECK(tree->find("sub/data")->mtime_ns > 0);
  CHECK_FALSE(tree->find("sub/data")->executable);
  CHECK(tree->find("sub/run.sh")->executable);
  CHECK(tree->find("out")->link_target == "../outside");
  CHECK(tree->find("out")->type == EntryType::symlink);
  CHECK(tree->find("pipe")->obstacle->what == "fifo");
  for (const std::string path : {"out/secret", "../outside/secret", "/etc/passwd", "sub/",
                                 "sub//data", "./sub", "sub/data/x", "none", "none/x"}) {
    CAPTURE(path);
    CHECK_FALSE(tree->find(path));
    CHECK_THROWS_AS(tree->read(path), Error);
  }
  CHECK_FALSE(tree->find(std::string_view{"sub\0x", 5}));
  CHECK_FALSE(tree->find(std::string(5000, 'x')));
}

TEST_CASE("a disk tree reads files and nothing else") {
  const TemporaryDirectory directory;
  const fs::path& root = directory.path();
  const std::string big(1'000'000, 'x');
  write_file(root / "big", big);
  write_file(root / "empty", "");
  fs::create_directory(root / "sub");
  fs::create_symlink("big", root / "link");
  REQUIRE(::mkfifo((root / "pipe").c_str(), 0600) == 0);
  const auto tree = make_disk_tree(root);
  CHECK(tree->read("big") == big);
  CHECK(tree->read("empty").empty());
  std::size_t pieces = 0;
  tree->stream("big", [&](std::string_view bytes) {
    ++pieces;
    CHECK(bytes.size() <= 256 * 1024);
  });
  CHECK(pieces >= 4);
  const auto kind = ErrorKind::project;
  CHECK(message_of([&] { tree->read("sub"); }, kind) == "`sub` is a directory, not a file");
  CHECK(message_of([&] { tree->read("link"); }, kind) == "`link` is a symbolic link, not a file");
  CHECK(message_of([&] { tree->read("pipe"); }, kind) == "`pipe` is a fifo, not a file");
  CHECK(message_of([&] { tree->read("no\x1b"); }, kind) == "could not read `no\\x1b`");
  CHECK(message_of([&] { tree->read(""); }, kind) == "`` is a directory, not a file");
}

TEST_CASE("an unreadable file is reported with the flag that excludes it") {
  const TemporaryDirectory root{};
  fs::permissions(root.path(), fs::perms{0755});
  fs::create_directories(root.path() / "ml runs/0");
  fs::permissions(root.path() / "ml runs/0", fs::perms{0});
  const auto tree = make_disk_tree(root.path());
  const auto user = ::geteuid();
  const bool is_another = user == 0 && ::seteuid(65534) == 0;  // root can read everything
  try {
    tree->list("ml runs/0");
    FAIL("it was read");
  } catch (const Error& error) {
    CHECK(error.message() == "could not read `ml runs/0`");
    CHECK(error.hints() == std::vector<std::string>{"`--exclude='ml runs/0'` leaves it out"});
  }
  CHECK((!is_another || ::seteuid(user) == 0));
  fs::permissions(root.path() / "ml runs/0", fs::perms{0755});
}

TEST_CASE("a remembering tree finds what it has listed, and what it has not") {
  auto memory = std::make_shared<MemoryTree>();
  memory->file("b", "1").file("a/x", "22").file("a/xy", "333", true).symlink("a/z", "x");
  const auto kept = remembering(memory);
  const auto find_all = [&] {
    for (const char* path : {"", "a", "b", "c", "a/", "a/w", "a/x", "a/xy", "a/y", "a/z", "a/zz",
                             "a/x/y", "b/c", "a/z/x"}) {
      CAPTURE(path);
      CHECK(kept->find(path) == memory->find(path));
    }
  };
  find_all();
  for (const char* directory : {"", "a", "b", "a/x", "c"}) {
    kept->list(directory);
    find_all();
  }
  memory->file("a/later", "").file("b/now/a/directory", "").file("c/new", "");
  for (const char* path : {"a/later", "b/now/a/directory", "c/new"}) {
    CAPTURE(path);
    CHECK_FALSE(kept->find(path));
  }
  CHECK(remembering(kept) == kept);
}

TEST_CASE("a remembering tree gives each entry whole, and as it was") {
  const TemporaryDirectory directory;
  const fs::path& root = directory.path();
  fs::create_directory(root / "sub");
  for (const fs::path& place : {root, root / "sub"}) {
    write_file(place / "file", "text");
    write_file(place / "program", "#!/bin/sh\n");
    fs::permissions(place / "program", fs::perms::owner_all);
    fs::create_symlink("file", place / "link");
    REQUIRE(::mkfifo((place / "pipe").c_str(), 0600) == 0);
  }
  const std::shared_ptr<const Tree> tree = make_disk_tree(root);
  const auto kept = remembering(tree);
  const auto top = tree->list("");
  const auto below = tree->list("sub");
  REQUIRE(below.size() == 4);
  for (int i = 0; i < 2; ++i) {
    CHECK(kept->list("") == top);
    CHECK(kept->list("sub") == below);
    write_file(root / "sub" / "late", "");
  }
  CHECK(tree->list("sub").size() == 5);
}

TEST_CASE("a disk tree needs a directory") {
  const TemporaryDirectory directory;
  const std::string root = directory.path().string();
  write_file(directory.path() / "file", "");
  CHECK(message_of([&] { make_disk_tree(root + "/none"); }, ErrorKind::usage) ==
        "the directory `" + root + "/none` does not exist");
  CHECK(message_of([&] { make_disk_tree(root + "/file"); }, ErrorKind::usage) ==
        "`" + root + "/file` is not a directory");
}

TEST_CASE("a directory whose path is too long for the system is reported, not skipped") {
  const TemporaryDirectory directory;
  const auto before = fs::current_path();
  fs::current_path(directory.path());
  const std::string name(200, 'd');
  for (int i = 0; i < 22; ++i) {
    REQUIRE(::mkdir(name.c_str(), 0700) == 0);
    REQUIRE(::chdir(name.c_str()) == 0);
  }
  write_file("lost.py", "");
  REQUIRE(::chdir(before.c_str()) == 0);
  const auto tree = make_disk_tree(directory.path());
  try {
    const std::string found = walked(*tree, "");
    // Without the single call that opens a whole path, there is no limit.
    CHECK(found.find("/lost.py ") != std::string::npos);
  } catch (const Error& error) {
    CHECK(error.message().find("could not read `" + name + "/") == 0);
    CHECK(error.causes() == std::vector<std::string>{"File name too long"});
  }
  CHECK(tree->list(std::string(300, 'x')).empty());
}

TEST_CASE("a directory that disappears during the walk is reported") {
  const TemporaryDirectory directory;
  fs::create_directories(directory.path() / "a");
  write_file(directory.path() / "b" / "file", "");
  const auto tree = make_disk_tree(directory.path());
  CHECK_THROWS_WITH_AS(walk(
                           *tree, "", [](const Entry&) { return true; },
                           [&](const Entry& entry) {
                             if (entry.path == "a") {
                               fs::remove_all(directory.path() / "b");
                             }
                           }),
                       "the directory `b` went away while it was read", Error);
}

TEST_CASE("the file that this process writes to is not part of the tree") {
  const TemporaryDirectory directory;
  write_file(directory.path() / "log.txt", "a line\n");
  write_file(directory.path() / "train.py", "");
  const FileDescriptor before{::dup(STDERR_FILENO)};
  const FileDescriptor log{::open((directory.path() / "log.txt").c_str(), O_WRONLY | O_APPEND)};
  REQUIRE(::dup2(log.get(), STDERR_FILENO) == STDERR_FILENO);
  const auto tree = make_disk_tree(directory.path());
  const std::string found = walked(*tree, "");
  const bool is_found = tree->find("log.txt").has_value();
  REQUIRE(::dup2(before.get(), STDERR_FILENO) == STDERR_FILENO);
  CHECK(found.find("train.py") != std::string::npos);
  CHECK(found.find("log.txt") == std::string::npos);
  CHECK_FALSE(is_found);
}

TEST_CASE("a tree is walked however deep it is") {
  const TemporaryDirectory directory;
  fs::path path = directory.path();
  for (int i = 0; i < 1000; ++i) {
    path /= "d";
  }
  fs::create_directories(path);
  int count = 0;
  walk(
      *make_disk_tree(directory.path()), "", [](const Entry&) { return true; },
      [&](const Entry&) { ++count; });
  CHECK(count == 1000);
}

TEST_CASE("a walk is the same when a second thread lists ahead of it") {
  const WideTree tree;
  for (const std::string closed : {"", "d100", "d130", "d159/sub"}) {
    CHECK(walked(tree, "", closed) == walked(tree.alone(), "", closed));
    const auto kept = remembering(std::make_shared<const WideTree>());
    CHECK(walked(*kept, "", closed) == walked(tree.alone(), "", closed));
    CHECK(walked(*kept, "", closed) == walked(tree.alone(), "", closed));
  }
}

TEST_CASE(
    "a directory that cannot be listed ends the walk at its place, and only if it is entered") {
  const WideTree tree{"d140"};
  std::string last;
  const auto go = [&](const std::string& closed) {
    walk(
        tree, "", [&](const Entry& directory) { return directory.path != closed; },
        [&](const Entry& entry) { last = entry.path; });
  };
  CHECK(message_of([&] { go(""); }, ErrorKind::project) == "could not read `d140`");
  CHECK(last == "d140");
  CHECK(message_of([&] { go("d140"); }, ErrorKind::project) == "no error");
  CHECK(last == "d159.txt");
}

TEST_CASE("a walk that is broken off leaves no thread") {
  const WideTree tree;
  for (int i = 0; i < 20; ++i) {
    int seen = 0;
    CHECK(message_of(
              [&] {
                walk(
                    tree, "", [](const Entry&) { return true; },
                    [&](const Entry&) {
                      if (++seen > i * 10) {
                        throw Error(ErrorKind::usage, "enough");
                      }
                    });
              },
              ErrorKind::usage) == "enough");
  }
}

TEST_CASE("a tree in memory records what is read") {
  const MemoryTree tree{{"a/b", "text"}, {"c", "other"}};
  CHECK(tree.read("a/b") == "text");
  CHECK(tree.reads().contains("a/b"));
  CHECK_FALSE(tree.reads().contains("c"));
  CHECK(tree.find("a")->type == EntryType::directory);
  CHECK(names(tree.list("")) == "a c ");
  CHECK(tree.lists().contains(""));
  CHECK_THROWS_AS(tree.read("a"), Error);
}

TEST_CASE("what is read of a tree is counted") {
  auto files = std::make_shared<MemoryTree>();
  for (int i = 0; i < 600; ++i) {
    files->file("a/" + std::to_string(i) + ".py", "text");
  }
  files->file("large.bin", std::string(20U << 20U, 'x')).directory("b");
  const auto count = std::make_shared<ReadCount>();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> reports;
  count->set_report(
      [&](std::uint64_t seen, std::uint64_t bytes) { reports.emplace_back(seen, bytes); });
  const auto tree = counted(files, count);
  CHECK(tree->list("").size() == 3);
  CHECK(reports.empty());
  CHECK(tree->list("a").size() == 600);
  CHECK(reports.back() == std::pair<std::uint64_t, std::uint64_t>{601, 0});
  CHECK(tree->read("a/1.py") == "text");
  CHECK(reports.size() == 1);
  tree->stream("large.bin", [](std::string_view) {});
  CHECK(reports.back() == std::pair<std::uint64_t, std::uint64_t>{601, (20U << 20U) + 4});
  count->set_report({});
  tree->list("a");
  CHECK(reports.size() == 2);
}

}  // namespace autopack::source_tree_test
