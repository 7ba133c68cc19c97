#include "base/file.hpp"
#include "state/blob_cache.hpp"
#include "state/pushed_images.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

using namespace autopack;

TEST_CASE("a cached blob is what its digest says, or not there") {
  const TemporaryDirectory directory;
  const state::BlobCache cache{directory.path() / "blobs"};
  const Digest digest = sha256("manifest");
  CHECK_FALSE(cache.get(digest));
  cache.put("manifest");
  CHECK(cache.get(digest) == "manifest");
  write_file(directory.path() / "blobs" / digest.hex(), "manif");
  CHECK_FALSE(cache.get(digest));
}

TEST_CASE("the oldest blobs go when there are too many") {
  const TemporaryDirectory directory;
  const state::BlobCache cache{directory.path(), 1000};
  for (int i = 0; i < 40; ++i) {
    cache.put(std::string(100, static_cast<char>('A' + i)));
  }
  std::uintmax_t total = 0;
  for (const auto& entry : std::filesystem::directory_iterator{directory.path()}) {
    total += entry.file_size();
  }
  CHECK(total <= 1000);
  CHECK(cache.get(sha256(std::string(100, static_cast<char>('A' + 39)))));
}

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

TEST_CASE("the image that was pushed last is known by its repository") {
  const TemporaryDirectory directory;
  const state::PushedImages images{directory.path()};
  CHECK_FALSE(images.get("r.example/a"));
  images.put("r.example/a", sha256("one"));
  images.put("r.example/b", sha256("other"));
  images.put("r.example/a", sha256("two"));
  CHECK(images.get("r.example/a") == sha256("two"));
  CHECK(images.get("r.example/b") == sha256("other"));
  write_file(directory.path() / sha256("r.example/a").hex(), "sha256:cut");
  CHECK_FALSE(images.get("r.example/a"));
}
