#include "build/wheels/published_wheels.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::testing::build_published_wheels_test {

namespace {

const build::InstalledWheel wheel{.name = "numpy",
                                  .version = "2.1.0",
                                  .file = "numpy-2.1.0-py3-none-any.whl",
                                  .digest = sha256("the wheel"),
                                  .size = 9,
                                  .url = "https://files.example/numpy-2.1.0-py3-none-any.whl"};

build::PublishedWheels compare(const std::vector<index::Candidate>& offers) {
  build::PublishedWheels found;
  build::compare_with_offers(wheel, offers, found);
  CHECK(found.wheels == 1);
  return found;
}

index::Candidate offer(const std::string& name, const std::vector<python::Hash>& hashes) {
  return {.name = name, .hashes = hashes};
}

python::Hash sha256_of(const std::string& content) {
  return {.algorithm = "sha256", .hex = sha256(content).hex()};
}

}  // namespace

TEST_CASE("a wheel that an index lists with its hash is listed") {
  const auto found = compare({offer("numpy-2.0.0-py3-none-any.whl", {sha256_of("older")}),
                              offer(wheel.file, {{"md5", "0"}, sha256_of("the wheel")})});
  CHECK(found.listed == 1);
  CHECK(found.differing.empty());
  CHECK(found.unlisted.empty());
}

TEST_CASE("a wheel that another index lists with another hash is listed if one has its hash") {
  const auto found = compare(
      {offer(wheel.file, {sha256_of("another")}), offer(wheel.file, {sha256_of("the wheel")})});
  CHECK(found.listed == 1);
  CHECK(found.differing.empty());
}

TEST_CASE("a wheel that an index lists with another hash differs") {
  const auto found = compare({offer(wheel.file, {sha256_of("another")})});
  CHECK(found.listed == 0);
  REQUIRE(found.differing.size() == 1);
  CHECK(found.differing.front() == "`numpy-2.1.0-py3-none-any.whl` has " + wheel.digest.str() +
                                       ", and the index lists " + sha256("another").str());
}

TEST_CASE("a wheel that no index lists, or only without a hash, is unlisted") {
  CHECK(compare({}).unlisted == std::vector{wheel.file});
  CHECK(compare({offer(wheel.file, {{"md5", "0"}})}).unlisted == std::vector{wheel.file});
}

TEST_CASE("an index that neither the user nor the project names is not asked") {
  const std::vector<std::string> known{"https://index.example/simple"};
  CHECK_FALSE(build::reason_not_to_ask(wheel, known));
  auto other = wheel;
  other.index = "https://index.example/simple/";
  CHECK_FALSE(build::reason_not_to_ask(other, known));
  other.index = "https://index.example/other";
  CHECK(build::reason_not_to_ask(other, known) ==
        "from `https://index.example/other`, which this directory does not name");
  other.is_direct = true;
  CHECK(build::reason_not_to_ask(other, known) == "from a URL or a path");
  auto built = wheel;
  built.url.clear();
  CHECK(build::reason_not_to_ask(built, known) == "built, or in the project");
}

}  // namespace autopack::testing::build_published_wheels_test
