#include "base/file.hpp"
#include "state/records.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace autopack::state_layer_cache_test {

TEST_CASE("a layer's facts are found by its key") {
  const TemporaryDirectory directory;
  const state::LayerCache cache{directory.path()};
  const std::string key = sha256("recipe").hex();
  CHECK_FALSE(cache.get(key));
  cache.put(key, {.digest = sha256("a"), .diff_id = sha256("b"), .size = 5, .tar_size = 9});
  const auto facts = cache.get(key);
  REQUIRE(facts);
  CHECK(facts->digest == sha256("a"));
  CHECK(facts->diff_id == sha256("b"));
  CHECK(facts->size == 5);
  CHECK(facts->tar_size == 9);
  cache.put("other", *facts);
  std::filesystem::rename(directory.path() / "other", directory.path() / key);
  CHECK_FALSE(cache.get(key));
  for (const char* bad : {"", "{}", "[1]", R"({"digest":"x","diffID":"y","size":1,"tarSize":1})",
                          R"({"digest":1})"}) {
    write_file(directory.path() / key, bad);
    CHECK_FALSE(cache.get(key));
  }
}

}  // namespace autopack::state_layer_cache_test
