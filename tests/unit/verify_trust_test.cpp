#include "support/locked.hpp"
#include "verify/trust.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::testing::verify_trust_test {

namespace {

using packaging::Settings;
using verify::Asked;
using Texts = std::vector<std::string>;

const std::string commit(40, 'a');

lock::LockedSet set_of(lock::LockedPackage package) {
  package.name = "x";
  return {.packages = {std::move(package)}};
}

lock::LockedSet of_repository(const std::string& url) {
  return set_of({.source = lock::LockedSource{.repository = url, .commit = commit}});
}

Texts foreign(const lock::LockedSet& set, const Texts& named, Asked asked = Asked::all) {
  std::vector<python::Requirement> requirements;
  for (const auto& text : named) {
    requirements.push_back(python::parse_requirement(text));
  }
  return verify::foreign_packages(set, requirements, asked);
}

}  // namespace

TEST_CASE("settings of an image that the directory has otherwise are named") {
  const Settings own{.script = "train.py", .exclude = Texts{"data"}};
  CHECK(verify::foreign_settings(own, own).empty());
  CHECK(verify::foreign_settings({.executor_image_uri = "other", .script = "evil.py"}, own) ==
        Texts{"--script=evil.py", "no --exclude"});
  CHECK(verify::foreign_settings({.script = "train.py", .exclude = Texts{"data", "b"}}, own) ==
        Texts{"--exclude=data,b"});
}

TEST_CASE("an image's word alone names no code outside an index, and no variables of builds") {
  const Settings hostile{.requirements = Texts{"numpy>=2", "x @ git+https://evil.example/x.git",
                                               "./setup", "y==${HOME}", "--index-url=http://e"},
                         .extra_packages = Texts{"vendored"},
                         .build_env = Texts{"CC=./cc"}};
  CHECK(verify::foreign_sources(hostile, {}) ==
        Texts{"--requirements=x @ git+https://evil.example/x.git", "--requirements=./setup",
              "--requirements=y==${HOME}", "--requirements=--index-url=http://e",
              "--extra-packages=vendored", "--build-env=CC=./cc"});
  CHECK(verify::foreign_sources(hostile, hostile).empty());
}

TEST_CASE("a recorded repository must be one that the project names") {
  const auto set = of_repository("https://host.example/x.git");
  CHECK(foreign(set, {}) == Texts{"`x` from `git+https://host.example/x.git`"});
  CHECK(foreign(set, {"x @ git+https://host.example/x.git"}).empty());
  CHECK(foreign(set, {"x @ git+https://host.example/x.git@main#egg=x"}).empty());
  CHECK(foreign(set, {"x @ git+https://host.example/x.git@" + commit}).empty());
  CHECK_FALSE(foreign(set, {"x @ git+https://host.example/x.git@" + std::string(40, 'b')}).empty());
  CHECK_FALSE(foreign(set, {"x @ git+https://host.example/y.git"}).empty());
  CHECK_FALSE(foreign(set, {"x @ https://host.example/x.git"}).empty());
}

TEST_CASE("a recorded URL or path must be one that the project names") {
  const std::string url{"https://host.example/x-1.0-py3-none-any.whl"};
  const auto direct = set_of({.files = {{.url = url}}, .is_direct = true});
  CHECK(foreign(direct, {}) == Texts{"`x` from `" + url + "`"});
  CHECK(foreign(direct, {"x @ " + url + "#sha256=00"}).empty());
  const auto directory = set_of({.source = lock::LockedSource{.directory = "libs/x"}});
  CHECK(foreign(directory, {"./libs/y"}) == Texts{"`x` from `libs/x`"});
  CHECK(foreign(directory, {"./libs/x"}).empty());
  CHECK_FALSE(foreign(set_of({.files = {{.path = "x.whl"}}}), {}).empty());
  CHECK_FALSE(foreign(set_of({.files = {{.url = "file:///x.whl"}}}), {}).empty());
  CHECK(foreign(set_of({.files = {{.url = url}}}), {}).empty());
}

TEST_CASE("a signature allows repositories, but none on this machine") {
  CHECK(
      foreign(of_repository("https://host.example/x.git"), {}, Asked::local_repositories).empty());
  const auto local = of_repository("file:///home/x.git");
  CHECK_FALSE(foreign(local, {}, Asked::local_repositories).empty());
  CHECK(foreign(local, {"x @ git+file:///home/x.git"}, Asked::local_repositories).empty());
}

}  // namespace autopack::testing::verify_trust_test
