#include "base/file.hpp"
#include "state/base_cache.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace autopack::state_base_cache_test {

using state::BaseCache;
namespace fs = std::filesystem;

namespace {

image::BaseFacts facts_of(const std::string& reference, const std::string& manifest) {
  return {.reference = reference,
          .digest = sha256(manifest),
          .platform = "linux/amd64",
          .python = "python3",
          .environment = {"A=1"}};
}

std::vector<fs::path> files_below(const fs::path& directory) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator{directory}) {
    if (entry.is_regular_file()) {
      files.push_back(entry.path());
    }
  }
  return files;
}

}  // namespace

TEST_CASE("base facts are found by digest and by reference") {
  const TemporaryDirectory directory;
  const BaseCache cache{directory.path() / "bases"};
  const auto facts = facts_of("gcr.io/p/i:t", "one");
  CHECK_FALSE(cache.by_digest(*facts.digest, "linux/amd64"));
  cache.store(facts);
  CHECK(cache.by_digest(*facts.digest, "linux/amd64") == facts);
  CHECK(cache.by_reference("gcr.io/p/i:t", "linux/amd64") == facts);
  CHECK_FALSE(cache.by_digest(*facts.digest, "linux/arm64"));
  CHECK_FALSE(cache.by_digest(sha256("two"), "linux/amd64"));
  CHECK_FALSE(cache.by_reference("gcr.io/p/i:t", "linux/arm64"));
  CHECK_FALSE(cache.by_reference("gcr.io/p/i", "linux/amd64"));

  const auto moved = facts_of("gcr.io/p/i:t", "two");
  cache.store(moved);
  CHECK(cache.by_reference("gcr.io/p/i:t", "linux/amd64") == moved);
  CHECK(cache.by_digest(*facts.digest, "linux/amd64") == facts);
  CHECK(BaseCache{directory.path() / "bases"}.by_reference("gcr.io/p/i:t", "linux/amd64") == moved);
}

TEST_CASE("an image without a digest is found by reference alone") {
  const TemporaryDirectory directory;
  const BaseCache cache{directory.path()};
  auto facts = facts_of("local:1", "one");
  facts.digest.reset();
  facts.image_id = sha256("id").str();
  cache.store(facts);
  CHECK(cache.by_reference("local:1", "linux/amd64") == facts);
  CHECK(files_below(directory.path()).size() == 1);
}

TEST_CASE("damaged and foreign files in the cache count as absent") {
  const TemporaryDirectory directory;
  const BaseCache cache{directory.path()};
  const auto facts = facts_of("a", "one");
  cache.store(facts);
  const auto other = image::to_json_line(facts_of("b", "two"));
  const auto whole = image::to_json_line(facts);
  for (const std::string& text :
       {std::string{}, std::string{"{"}, whole.substr(0, whole.size() / 2), other}) {
    CAPTURE(text);
    for (const auto& file : files_below(directory.path())) {
      write_file(file, text);
    }
    CHECK_FALSE(cache.by_digest(*facts.digest, "linux/amd64"));
    CHECK_FALSE(cache.by_reference("a", "linux/amd64"));
  }
  for (const auto& file : files_below(directory.path())) {
    fs::remove(file);
    fs::create_directory(file);
  }
  CHECK_FALSE(cache.by_digest(*facts.digest, "linux/amd64"));
  cache.store(facts);
}

TEST_CASE("an unwritable cache is not an error") {
  const TemporaryDirectory directory;
  write_file(directory.path() / "file", "");
  const BaseCache cache{directory.path() / "file" / "bases"};
  cache.store(facts_of("a", "one"));
  CHECK_FALSE(cache.by_reference("a", "linux/amd64"));
}

TEST_CASE("names cannot lead out of the cache") {
  const TemporaryDirectory directory;
  const BaseCache cache{directory.path() / "bases"};
  auto facts = facts_of("../../x", "one");
  facts.platform = "../../../linux";
  cache.store(facts);
  CHECK(cache.by_reference("../../x", "../../../linux") == facts);
  CHECK(cache.by_digest(*facts.digest, "../../../linux") == facts);
  CHECK(files_below(directory.path()).size() == 2);
  CHECK(files_below(directory.path() / "bases").size() == 2);
}

TEST_CASE("several writers at once leave a whole file") {
  const TemporaryDirectory directory;
  const BaseCache cache{directory.path()};
  const auto write = [&](const std::string& manifest) {
    for (int i = 0; i < 50; ++i) {
      cache.store(facts_of("shared", manifest));
    }
  };
  write("zero");
  std::vector<std::thread> writers;
  for (const char* manifest : {"one", "two", "three"}) {
    writers.emplace_back(write, manifest);
  }
  for (int i = 0; i < 200; ++i) {
    CHECK(cache.by_reference("shared", "linux/amd64"));
  }
  for (auto& writer : writers) {
    writer.join();
  }
  CHECK(files_below(directory.path()).size() == 5);
}

}  // namespace autopack::state_base_cache_test
