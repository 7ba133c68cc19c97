#include "base/file.hpp"
#include "state/records.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>
#include <string>

namespace autopack::state_records_test {

namespace fs = std::filesystem;

TEST_CASE("a record with a changed byte, of another name, or that others could write is absent") {
  const TemporaryDirectory directory;
  const state::Records records{directory.path() / "records"};
  CHECK_FALSE(records.get("some"));
  records.put("some", "one\ntwo");
  CHECK(records.get("some") == "one\ntwo");
  const auto file = fs::directory_iterator {
    directory.path() / "records"
    } -> path();
  const auto text = read_file(file);
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto damaged = text;
    damaged[i] ^= 1;
    write_file(file, damaged);
    CHECK_FALSE(records.get("some"));
    write_file(file, text.substr(0, i));
    CHECK_FALSE(records.get("some"));
  }
  records.put("some", "one\ntwo");
  CHECK(records.get("some") == "one\ntwo");
  fs::permissions(file, fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(records.get("some"));
  records.put("some", "");
  CHECK(records.get("some") == "");
  records.put("other", "x");
  for (const auto& entry : fs::directory_iterator{directory.path() / "records"}) {
    if (entry.path() != file) {
      fs::rename(entry.path(), file);
    }
  }
  CHECK_FALSE(records.get("some"));
}

TEST_CASE("directories of a cache are for their owner alone") {
  const TemporaryDirectory directory;
  state::Records{directory.path() / "a" / "b"}.put("some", "x");
  for (const char* const made : {"a", "a/b"}) {
    CHECK(fs::status(directory.path() / made).permissions() == fs::perms::owner_all);
  }
}

TEST_CASE("a directory of records has a limit of files, however small they are") {
  constexpr int most{50'000};
  const TemporaryDirectory directory;
  for (int i = 0; i <= most; ++i) {
    write_file(directory.path() / std::to_string(i), "");
  }
  state::Records{directory.path(), 1000}.put("some", std::string(100, 'x'));
  CHECK(std::distance(fs::directory_iterator{directory.path()}, {}) <= most);
  CHECK(state::Records{directory.path(), 1000}.get("some"));
}

TEST_CASE("a changed copy of records reads them, and writes nothing among them") {
  const TemporaryDirectory directory;
  const state::Records records{directory.path() / "records"};
  records.put("some", "one");
  const auto changed = records.changed_in(directory.path() / "changed");
  CHECK(changed.get("some") == "one");
  changed.put("some", "two");
  changed.put("other", "three");
  CHECK(changed.get("some") == "two");
  CHECK(changed.get("other") == "three");
  CHECK(records.get("some") == "one");
  CHECK_FALSE(records.get("other"));
}

}  // namespace autopack::state_records_test
