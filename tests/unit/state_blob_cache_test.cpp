#include "base/file.hpp"
#include "state/blob_cache.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace autopack::state_blob_cache_test {

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

TEST_CASE("a blob is kept although the cache cannot be pruned") {
  if (::geteuid() != 0) {
    return;  // without another user there are no foreign files
  }
  const TemporaryDirectory directory;
  const auto blobs = directory.path() / "blobs";
  std::filesystem::create_directory(blobs);
  write_file(blobs / "of-another", std::string(2000, 'x'));
  std::filesystem::permissions(directory.path(), std::filesystem::perms{0755});
  // Others can write but not remove; then they cannot even list.
  for (const auto mode : {01777U, 01733U}) {
    std::filesystem::permissions(blobs, std::filesystem::perms{mode});
    const pid_t child = ::fork();
    if (child == 0) {
      if (::setresuid(65534, 65534, 65534) != 0) {
        ::_exit(2);
      }
      const state::BlobCache cache{blobs, 1000};
      const std::string blob(500, static_cast<char>(mode));
      cache.put(blob);
      ::_exit(cache.get(sha256(blob)) == blob ? 0 : 1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK(std::filesystem::exists(blobs / "of-another"));
  }
}

}  // namespace autopack::state_blob_cache_test
