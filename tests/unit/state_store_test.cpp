#include "base/file.hpp"
#include "base/json.hpp"
#include "state/base_cache.hpp"
#include "state/store.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace autopack::state_store_test {

namespace fs = std::filesystem;
using nlohmann::json;
using state::Store;

namespace {

std::optional<int> number_in(const json& document) {
  return document.at("n").get<int>();
}

fs::perms mode_of(const fs::path& file) {
  return fs::status(file).permissions();
}

}  // namespace

TEST_CASE("a store returns what it was given, to its owner alone") {
  const TemporaryDirectory directory;
  const Store store{directory.path() / "store", 1000};
  CHECK_FALSE(store.get("a"));
  store.put("a", "text");
  CHECK(store.get("a") == "text");
  store.put("below/b", "more");
  CHECK(store.get("below/b") == "more");
  const auto file = directory.path() / "store" / "a";
  CHECK(mode_of(file) == (fs::perms::owner_read | fs::perms::owner_write));
  fs::permissions(file, fs::perms::group_write, fs::perm_options::add);
  CHECK_FALSE(store.get("a"));
  store.clear();
  CHECK_FALSE(fs::exists(directory.path() / "store"));
}

TEST_CASE("what a store's reader refuses or throws at is absent") {
  const TemporaryDirectory directory;
  const Store store{directory.path(), 1000};
  store.put("a", "text");
  using Text = std::optional<std::string>;
  CHECK(store.get("a", [](const std::string& text) -> Text { return text + "!"; }) == "text!");
  CHECK_FALSE(store.get("a", [](const std::string&) -> Text { return std::nullopt; }));
  CHECK_FALSE(store.get("a", [](const std::string&) -> Text { throw std::runtime_error{"bad"}; }));
  for (const char* const damaged : {"", "{", "[1]", "{}", R"({"n": "1"})"}) {
    CAPTURE(damaged);
    store.put("a", damaged);
    CHECK_FALSE(store.document("a", number_in));
  }
}

TEST_CASE("documents of another version are absent") {
  const TemporaryDirectory directory;
  const Store first{directory.path(), 1000, 1};
  const Store second{directory.path(), 1000, 2};
  const Store plain{directory.path(), 1000};
  first.put_document("a", {{"n", 5}});
  CHECK(first.document("a", number_in) == 5);
  CHECK_FALSE(second.document("a", number_in));
  plain.put_document("a", {{"n", 6}});
  CHECK(plain.document("a", number_in) == 6);
  CHECK_FALSE(first.document("a", number_in));
  CHECK(plain.get("a") == R"({"n":6})");
}

TEST_CASE("a store above its limit loses its oldest files") {
  const TemporaryDirectory directory;
  const Store store{directory.path(), 100};
  for (int i = 0; i < 9; ++i) {
    store.put(std::to_string(i), std::string(20, 'x'));
    fs::last_write_time(directory.path() / std::to_string(i),
                        fs::file_time_type::clock::now() - std::chrono::hours{10 - i});
  }
  CHECK_FALSE(store.get("0"));
  CHECK(store.get("8"));
}

TEST_CASE("facts and modules of executor images that another user could have written are absent") {
  const TemporaryDirectory directory;
  const state::BaseCache bases{directory.path()};
  bases.store({.reference = "a", .platform = "linux/amd64"});
  const state::BaseModules modules{directory.path()};
  modules.store(sha256("id"), {{"numpy", true}, {"torch", false}});
  CHECK(bases.by_reference("a", "linux/amd64"));
  CHECK(modules.of(sha256("id")) == std::map<std::string, bool>{{"numpy", true}, {"torch", false}});
  for (const auto& entry : fs::recursive_directory_iterator{directory.path()}) {
    if (entry.is_regular_file()) {
      fs::permissions(entry.path(), fs::perms::group_write, fs::perm_options::add);
    }
  }
  CHECK_FALSE(bases.by_reference("a", "linux/amd64"));
  CHECK(modules.of(sha256("id")).empty());
}

}  // namespace autopack::state_store_test
