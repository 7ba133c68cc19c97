#include "base/file.hpp"
#include "state/blob_cache.hpp"
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
