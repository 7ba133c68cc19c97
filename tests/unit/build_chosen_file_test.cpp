#include "build/wheels/chosen_file.hpp"
#include "build/wheels/sources_of_set.hpp"
#include "support/locked.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::build_chosen_file_test {

using namespace autopack::build;
using python::Hash;

namespace {

Hash hash_of(char letter, const std::string& algorithm = "sha256") {
  return {algorithm, std::string(algorithm == "sha512" ? 128 : 64, letter)};
}

}  // namespace

TEST_CASE("a file is bound to the hashes that its package names") {
  struct Case {
    const char* what;
    std::vector<Hash> named;    // by the package
    std::vector<Hash> offered;  // by the index
    std::vector<Hash> wanted;   // of the download
  };

  const std::vector<Case> cases{
      {"the index alone names one", {}, {hash_of('a')}, {hash_of('a')}},
      {"both name it", {hash_of('a'), hash_of('b')}, {hash_of('b')}, {hash_of('b')}},
      {"the index names none", {hash_of('a'), hash_of('b')}, {}, {hash_of('a'), hash_of('b')}},
      {"the index names another", {hash_of('a')}, {hash_of('c')}, {hash_of('a')}},
      {"the index adds an algorithm",
       {hash_of('a')},
       {hash_of('a'), hash_of('d', "sha512")},
       {hash_of('a')}},
  };
  for (const auto& test : cases) {
    CAPTURE(test.what);
    lock::LockedPackage package;
    package.hashes = test.named;
    index::Candidate file;
    file.name = "p-1-py3-none-any.whl";
    file.hashes = test.offered;
    CHECK((download_of(package, file).hashes == test.wanted));
  }
}

TEST_CASE("an obstacle names its package where that has a name") {
  const auto python = lock::debian_python();
  const lock::FileChooser files{python};
  lock::LockedPackage package{.place = "requirements.txt:1"};
  CHECK_FALSE(obstacle_of(package, files));
  package.obstacle = "its URL has a login";
  CHECK(obstacle_of(package, files) == "requirements.txt:1: its URL has a login");
  package.name = "lib";
  CHECK(obstacle_of(package, files) == "requirements.txt:1: `lib`: its URL has a login");
}

TEST_CASE("a file is chosen for good when its one digest and its size are known") {
  index::Download file{.name = "p-1-py3-none-any.whl",
                       .url = "https://files.example/p-1-py3-none-any.whl",
                       .hashes = {hash_of('a'), hash_of('d', "sha512")},
                       .size = 7};
  REQUIRE(ChosenFile::of(file));
  CHECK(ChosenFile::of(file)->digest.hex() == std::string(64, 'a'));
  file.hashes.push_back(hash_of('b'));
  CHECK_FALSE(ChosenFile::of(file));
  file.hashes = {hash_of('d', "sha512")};
  CHECK_FALSE(ChosenFile::of(file));
  file.hashes = {hash_of('a')};
  file.size.reset();
  CHECK_FALSE(ChosenFile::of(file));
}

TEST_CASE("a chosen file is remembered as a line, and a damaged line is none") {
  const auto chosen = ChosenFile::of({.name = "p-1-py3-none-any.whl",
                                      .url = "https://files.example/p-1-py3-none-any.whl",
                                      .hashes = {hash_of('a')},
                                      .size = 7});
  REQUIRE(chosen);
  const std::string text = chosen->text();
  const auto again = ChosenFile::read(text);
  REQUIRE(again);
  CHECK(again->text() == text);
  CHECK((again->download().hashes == std::vector{hash_of('a')}));
  CHECK(again->download().size == 7U);
  for (const std::string damaged :
       {R"([])", R"("p")", R"({})", R"({"file": 1, "digest": "sha256:0", "size": 1, "url": ""})",
        R"({"file": "p", "digest": "sha256:0", "size": 1, "url": ""})"}) {
    CAPTURE(damaged);
    CHECK_FALSE(ChosenFile::read(damaged));
  }
  std::string worded_size = text;
  worded_size.replace(worded_size.find('7'), 1, R"("7")");
  CHECK_FALSE(ChosenFile::read(worded_size));
}

}  // namespace autopack::build_chosen_file_test
