#include "base/file.hpp"
#include "base/report.hpp"
#include "state/file_hashes.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

namespace autopack::state_file_hashes_test {

namespace fs = std::filesystem;

namespace {

/// A tree of one old enough file that counts how often it is read.
class CountingTree final : public source::Tree {
public:
  std::optional<source::Entry> find(std::string_view) const override { return entry; }

  std::vector<source::Entry> list(std::string_view) const override { return {entry}; }

  std::string read(std::string_view) const override { return text; }

  void stream(std::string_view,
              const std::function<void(std::string_view bytes)>& take) const override {
    ++reads;
    take(text);
  }

  std::string describe() const override { return "a tree"; }

  source::Entry entry{.path = "a", .size = 3, .inode = 7, .ctime_ns = 1000, .mtime_ns = 1000};
  std::string text{"old"};
  mutable int reads{0};
};

struct Directory {
  Directory() { fs::remove_all(path); }

  ~Directory() { fs::remove_all(path); }

  fs::path path{fs::temp_directory_path() / "autopack-file-hashes-test"};
};

Digest ask(const CountingTree& tree, const fs::path& file) {
  state::FileHashes hashes{file};
  const std::string digest = hashes.of(tree, tree.entry.path, tree.entry).content.str();
  hashes.save();
  return *Digest::parse(digest);
}

}  // namespace

TEST_CASE("the reading of a file ends when the user stops it") {
  const Directory directory;
  const CountingTree tree;
  Cancellation cancellation;
  state::FileHashes hashes{directory.path / "hashes", &cancellation};
  CHECK(hashes.of(tree, "a", tree.entry).content.str() == sha256("old").str());
  cancellation.requested = true;
  CHECK_THROWS_AS(hashes.of(tree, "a", tree.entry), Interrupted);
}

TEST_CASE("an unchanged file is hashed once") {
  const Directory directory;
  const CountingTree tree;
  const auto file = directory.path / "hashes";
  CHECK(ask(tree, file) == sha256("old"));
  CHECK(ask(tree, file) == sha256("old"));
  CHECK(ask(tree, file) == sha256("old"));
  CHECK(tree.reads == 1);
}

TEST_CASE("any sign of a change makes it hash again") {
  const Directory directory;
  const auto file = directory.path / "hashes";
  CountingTree tree;
  ask(tree, file);
  tree.text = "new";
  const auto original = tree.entry;
  SUBCASE("size") {
    tree.entry.size = 4;
  }
  SUBCASE("modification") {
    tree.entry.mtime_ns += 1;
  }
  SUBCASE("status change") {
    tree.entry.ctime_ns += 1;
  }
  SUBCASE("inode") {
    tree.entry.inode += 1;
  }
  SUBCASE("path") {
    tree.entry.path = "b";
  }
  CHECK(ask(tree, file) == sha256("new"));
  CHECK(tree.reads == 2);
}

TEST_CASE("a file changed just now is not remembered") {
  const Directory directory;
  const auto file = directory.path / "hashes";
  CountingTree tree;
  tree.entry.mtime_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::system_clock::now().time_since_epoch())
                            .count();
  ask(tree, file);
  tree.text = "new";
  CHECK(ask(tree, file) == sha256("new"));
}

TEST_CASE("files with the same identity are read once, whatever their times") {
  const Directory directory;
  const auto file = directory.path / "hashes";
  CountingTree tree;
  tree.entry = {.path = "a", .size = 3, .identity = "blob 1"};
  CHECK(ask(tree, file) == sha256("old"));
  CHECK(ask(tree, file) == sha256("old"));
  CHECK(tree.reads == 1);
  tree.entry.identity = "blob 2";
  tree.text = "new";
  CHECK(ask(tree, file) == sha256("new"));
}

TEST_CASE("many files are found in any order, also after some came and went") {
  const Directory directory;
  const auto file = directory.path / "hashes";
  CountingTree tree;
  const auto ask_for = [&](const std::vector<int>& names) {
    state::FileHashes hashes{file};
    const int before = tree.reads;
    for (const int name : names) {
      tree.entry.path = std::to_string(name);
      tree.entry.inode = static_cast<std::uint64_t>(name) + 1;
      tree.text = "text " + tree.entry.path;
      CHECK(hashes.of(tree, tree.entry.path, tree.entry).content == sha256(tree.text));
    }
    hashes.save();
    return tree.reads - before;
  };
  CHECK(ask_for({1, 2, 3, 4, 5}) == 5);
  CHECK(ask_for({1, 2, 3, 4, 5}) == 0);
  CHECK(ask_for({5, 3, 1, 2, 4}) == 0);
  CHECK(ask_for({0, 1, 3, 4, 5, 6}) == 2);
  CHECK(ask_for({0, 1, 3, 4, 5, 6}) == 0);
  CHECK(ask_for({2, 6}) == 1);
  CHECK(ask_for({1}) == 1);
}

TEST_CASE("a file is cleared when no secret is in it, and remembered so") {
  const Directory directory;
  const auto file = directory.path / "hashes";
  CountingTree tree;
  const auto cleared = [&] {
    state::FileHashes hashes{file};
    const bool result = hashes.of(tree, tree.entry.path, tree.entry).cleared;
    hashes.save();
    return result;
  };
  CHECK(cleared());
  CHECK(cleared());
  CHECK(tree.reads == 1);
  tree.text = "token = 'ghp" + std::string("_") + "Z9y8X7w6V5u4T3s2R1q0P9o8N7m6L5k4J3i2'";
  tree.entry.mtime_ns += 1;
  CHECK_FALSE(cleared());
  CHECK_FALSE(cleared());
  CHECK(tree.reads == 2);
}

TEST_CASE("a damaged table counts as empty") {
  const Directory directory;
  const auto file = directory.path / "hashes";
  const CountingTree tree;
  ask(tree, file);
  const std::string good = read_file(file);
  for (const std::string& bad : {std::string{}, std::string{"x"}, good.substr(0, good.size() - 1),
                                 "X" + good.substr(1), std::string(good.size(), '\0')}) {
    write_file(file, bad);
    CHECK(ask(tree, file) == sha256("old"));
  }
  fs::remove(file);
  fs::create_directories(file);
  CHECK(ask(tree, file) == sha256("old"));
}

TEST_CASE("a real file and its table agree") {
  const Directory directory;
  fs::create_directories(directory.path / "tree");
  std::ofstream{directory.path / "tree" / "a"} << "text";
  fs::last_write_time(directory.path / "tree" / "a",
                      fs::file_time_type::clock::now() - std::chrono::hours{1});
  const auto tree = source::make_disk_tree(directory.path / "tree");
  state::FileHashes hashes{directory.path / "hashes"};
  const auto entry = tree->find("a");
  REQUIRE(entry);
  CHECK(entry->inode != 0);
  CHECK(entry->ctime_ns > entry->mtime_ns);
  CHECK(hashes.of(*tree, "a", *entry).content == sha256("text"));
}

}  // namespace autopack::state_file_hashes_test
