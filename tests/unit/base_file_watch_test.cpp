#include "base/file_watch.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <poll.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <vector>

namespace autopack::testing::base_file_watch_test {

namespace {

namespace fs = std::filesystem;

bool tells(const FileWatch& watch, int milliseconds = 2000) {
  pollfd entry{watch.descriptor(), POLLIN, 0};
  return ::poll(&entry, 1, milliseconds) > 0;
}

void write(const fs::path& file, const char* text) {
  std::ofstream{file} << text;
}

}  // namespace

TEST_CASE("a watch reports files that are written, renamed, made executable and removed") {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "train.py";
  write(file, "1");
  FileWatch watch;
  CHECK(watch.follow({directory.path()}));
  CHECK_FALSE(watch.follow({directory.path()}));
  CHECK_FALSE(tells(watch, 0));
  const std::vector<std::function<void()>> changes{
      [&] { write(file, "2"); },
      [&] {
        write(directory.path() / "new", "3");
        fs::rename(directory.path() / "new", file);
      },
      [&] { fs::permissions(file, fs::perms::owner_all); },
      [&] { fs::create_directory(directory.path() / "package"); },
      [&] { fs::remove(file); },
  };
  for (const auto& change : changes) {
    change();
    CHECK(tells(watch));
    watch.settle();
    CHECK_FALSE(tells(watch, 0));
  }
}

TEST_CASE("a watch follows the directories it is given and no others") {
  const TemporaryDirectory one;
  const TemporaryDirectory other;
  FileWatch watch;
  CHECK(watch.follow({one.path()}));
  CHECK(watch.follow({other.path(), other.path() / "not there"}));
  watch.settle();
  write(one.path() / "file", "1");
  CHECK_FALSE(tells(watch, 50));
  write(other.path() / "file", "1");
  CHECK(tells(watch));
  CHECK_FALSE(watch.looks_by_clock());
}

TEST_CASE("more directories than there may be watches are looked at by the clock") {
  const TemporaryDirectory one;
  const TemporaryDirectory other;
  FileWatch watch{1, std::chrono::milliseconds{20}};
  CHECK(watch.follow({one.path()}));
  CHECK_FALSE(watch.follow({one.path(), other.path()}));
  CHECK(watch.looks_by_clock());
  CHECK(tells(watch));
  watch.settle();
  CHECK(tells(watch));
}

}  // namespace autopack::testing::base_file_watch_test
