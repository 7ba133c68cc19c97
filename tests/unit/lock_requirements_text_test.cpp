#include "lock/locked_set.hpp"
#include "support/locked.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

namespace autopack::lock_requirements_text_test {

using namespace autopack::lock;

namespace {

python::Hash hash(char digit) {
  return python::Hash::parse(sha256_of(digit)).value();
}

LockedPackage package(const char* name, std::vector<LockedFile> files) {
  return {.name = name,
          .version = python::Version::parse("1.0"),
          .files = std::move(files),
          .place = "uv.lock:7"};
}

std::string refused(LockedPackage package) {
  return refusal([&] { requirements_text({.packages = {std::move(package)}}); });
}

}  // namespace

TEST_CASE("a lock as requirements names versions, all hashes, and its indexes") {
  auto from_index = package("a", {{.name = "a-1.0.tar.gz", .hashes = {hash('b')}},
                                  {.name = "a-1.0-py3-none-any.whl", .hashes = {hash('a')}}});
  from_index.index = "https://host/simple";
  auto by_hash = package("b", {});
  by_hash.hashes = {hash('c'), hash('c')};
  by_hash.index = "https://host/simple";
  CHECK(requirements_text({.packages = {from_index, by_hash}}) ==
        "--extra-index-url https://host/simple\n"
        "a==1.0 --hash=" +
            sha256_of('a') + " --hash=" + sha256_of('b') + "\nb==1.0 --hash=" + sha256_of('c') +
            "\n");
}

TEST_CASE("a source distribution is one that pip builds") {
  auto source = package("a", {{.name = "a-1.0.tar.gz", .hashes = {hash('a')}}});
  source.obstacle = "there is a source distribution of it only";
  CHECK(requirements_text({.packages = {source}}) == "a==1.0 --hash=" + sha256_of('a') + "\n");
}

TEST_CASE("a package that pip cannot install by hash is refused with its name") {
  auto repository = package("a", {});
  repository.obstacle = "it comes from version control";
  CHECK(refused(repository) ==
        "uv.lock:7: pip cannot install `a` by a hash: it comes from version control");
  CHECK(refused(package("a", {{.name = "a-1.0-py3-none-any.whl"}})) ==
        "uv.lock:7: pip cannot install `a` by a hash: the lock has no hash for it");
  CHECK(refused(package("a", {{.name = "a.whl", .path = "wheels/a.whl", .hashes = {hash('a')}}})) ==
        "uv.lock:7: pip cannot install `a` by a hash: `wheels/a.whl` is a file of the project");
  auto without_version = package("a", {{.name = "a.zip", .hashes = {hash('a')}}});
  without_version.version.reset();
  CHECK(refused(without_version).ends_with("the lock has no hash for it"));
}

TEST_CASE("the URL of an index begins no line of its own") {
  for (const auto* const url : {"https://host/\n--index-url https://evil/", "https://host/ x"}) {
    auto one = package("a", {{.name = "a.whl", .hashes = {hash('a')}}});
    one.index = url;
    CHECK(refused(one).find("is not the URL of an index") != std::string::npos);
  }
}

}  // namespace autopack::lock_requirements_text_test
