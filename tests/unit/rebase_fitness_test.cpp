#include "rebase/fitness.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::testing::rebase_fitness_test {

namespace {

using rebase::BaseSide;
using rebase::OwnPackages;

const OwnPackages with_packages{.installed = true};

python::Version version(const std::string& text) {
  return python::Version::parse(text).value();
}

BaseSide base() {
  const std::string site = "/usr/local/lib/python3.11/site-packages";
  BaseSide side{.facts = {.reference = "base", .platform = "linux/amd64", .python = "python3"}};
  side.python.interpreter =
      python::Interpreter{.executable = "/usr/bin/python3",
                          .version = version("3.11.2"),
                          .machine = "x86_64",
                          .libc = {.kind = python::Libc::Kind::glibc, .major = 2, .minor = 36},
                          .scheme = {.purelib = site,
                                     .platlib = site,
                                     .scripts = "/usr/local/bin",
                                     .headers = "/usr/local/include",
                                     .data = "/usr/local"}};
  side.python.search_path = {site};
  side.python.installed = {{.name = "numpy", .version = "1.24.2", .directory = site},
                           {.name = "pip", .version = "23.0", .directory = site}};
  side.python.directories = {"/usr", "/usr/local"};
  return side;
}

std::vector<std::string> misfits(const BaseSide& after,
                                 const OwnPackages& packages = with_packages) {
  return rebase::misfits(base(), after, packages);
}

std::string only(const std::vector<std::string>& found) {
  REQUIRE(found.size() == 1);
  return found.front();
}

}  // namespace

TEST_CASE("layers fit on a base with the same Python, C library and packages") {
  CHECK(misfits(base()).empty());
}

TEST_CASE("layers fit on a newer release of the same Python, not on an older or another one") {
  auto after = base();
  after.python.interpreter->version = version("3.11.9");
  CHECK(misfits(after).empty());
  after.python.interpreter->version = version("3.11.1");
  CHECK(only(misfits(after)).find("the version of Python is `3.11.1` instead of `3.11.2`") == 0);
  after.python.interpreter->version = version("3.12.2");
  CHECK(only(misfits(after)).find("the version of Python is `3.12.2`") == 0);
}

TEST_CASE("layers fit on a newer C library of the same kind") {
  auto after = base();
  after.python.interpreter->libc.minor = 41;
  CHECK(misfits(after).empty());
  after.python.interpreter->libc.minor = 31;
  CHECK(only(misfits(after)).find("the C library is `glibc 2.31` instead of `glibc 2.36`") == 0);
  after.python.interpreter->libc = {.kind = python::Libc::Kind::musl, .major = 3, .minor = 0};
  CHECK(only(misfits(after)).find("the C library is `musl 3.0`") == 0);
}

TEST_CASE("packages of the base must be the same if the layers have packages") {
  auto after = base();
  after.python.installed[0].version = "2.0.0";
  CHECK(only(misfits(after)).find("the package `numpy` of") == 0);
  CHECK(misfits(after, OwnPackages{}).empty());
  after = base();
  after.python.installed.pop_back();
  CHECK(only(misfits(after)).find("is absent instead of `23.0`") != std::string::npos);
  after = base();
  after.python.installed.push_back({.name = "new", .version = "1", .directory = "/x"});
  CHECK(only(misfits(after)).find("is `1` instead of absent") != std::string::npos);
}

TEST_CASE("only the packages that the layers count on must be the same, if they are known") {
  const OwnPackages on_numpy{.installed = true, .of_base = {{"numpy"}}};
  auto after = base();
  after.python.installed[1].version = "25.0";
  CHECK(misfits(after, on_numpy).empty());
  after.python.installed[0].version = "2.0.0";
  CHECK(only(misfits(after, on_numpy)).find("the package `numpy` of") == 0);
  after = base();
  after.python.installed.push_back({.name = "new", .version = "1", .directory = "/x"});
  CHECK(misfits(after, on_numpy).size() == 1);
}

TEST_CASE("a directory of packages must exist in the new base") {
  auto after = base();
  after.python.directories.pop_back();
  CHECK(only(misfits(after)).find("the directory `/usr/local`") == 0);
}

TEST_CASE("the user of the base must be the same") {
  auto after = base();
  after.facts.user = "1000";
  CHECK(only(misfits(after)) == "the user is `1000` instead of `root`");
  CHECK(only(misfits(after, OwnPackages{})) == "the user is `1000` instead of `root`");
  for (const auto* user : {"root", "0"}) {
    after.facts.user = user;
    CHECK(misfits(after).empty());
  }
}

TEST_CASE("every reason is reported at once") {
  auto after = base();
  after.facts.platform = "linux/arm64";
  auto& python = *after.python.interpreter;
  python.machine = "aarch64";
  python.abi_flags = "t";
  python.scheme.purelib = "/opt/lib";
  after.python.installed[0].version = "2.0.0";
  CHECK(misfits(after).size() == 5);
}

TEST_CASE("many different packages are counted") {
  auto after = base();
  for (int i = 0; i < 30; ++i) {
    after.python.installed.push_back(
        {.name = "package" + std::to_string(i), .version = "1", .directory = "/x"});
  }
  const auto found = misfits(after);
  CHECK(found.size() == 11);
  CHECK(found.back() == "20 further packages differ");
}

TEST_CASE("a program without packages needs no Python") {
  auto before = base();
  before.facts.python.reset();
  before.python = {};
  CHECK(rebase::misfits(before, before, OwnPackages{}).empty());
  CHECK(rebase::misfits(before, before, with_packages).size() == 1);
  CHECK(rebase::misfits(before, base(), OwnPackages{}).size() == 1);
}

}  // namespace autopack::testing::rebase_fitness_test
