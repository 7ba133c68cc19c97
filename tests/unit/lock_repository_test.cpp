#include "lock/repository.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::lock_repository_test {

using namespace autopack::lock;

namespace {

const std::string commit(40, 'a');

LockedPackage package_of(const std::string& requirement) {
  LockedPackage package;
  set_repository(package, requirement);
  return package;
}

}  // namespace

TEST_CASE("a commit of a repository is separated from the rest of its URL") {
  struct Case {
    std::string requirement;
    LockedSource source;
  };

  for (const auto& [requirement, source] : std::vector<Case>{
           {"git+https://host.example/a/b.git@" + commit,
            {.repository = "https://host.example/a/b.git", .commit = commit, .revision = commit}},
           {"git+file:///a/b@" + commit + "#egg=x&subdirectory=sub/dir",
            {.repository = "file:///a/b",
            .commit = commit,
            .revision = commit,
            .subdirectory = "sub/dir"}},
           {"git+ssh://host.example:22/b@" + std::string(64, '0'),
            {.repository = "ssh://host.example:22/b",
            .commit = std::string(64, '0'),
            .revision = std::string(64, '0')}},
           {"git+ssh://git@host.example/b@" + commit,
            {.repository = "ssh://git@host.example/b", .commit = commit, .revision = commit}},
       }) {
    const auto package = package_of(requirement);
    CHECK(package.source == source);
    CHECK_FALSE(package.obstacle);
    CHECK(package.is_direct);
  }
}

TEST_CASE("names that are ambiguous to git, or may change, are left to an engine") {
  for (const auto& requirement : std::vector<std::string>{
           "git+https://host.example/b@main",
           "git+https://host.example/b",
           "git+https://host.example/b@" + commit.substr(1),
           "git+https://host.example/b@" + std::string(40, 'A'),
           "git+https://me@host.example/b@" + commit,
           "git+https://me:word@host.example/b@" + commit,
           "git+https://${TOKEN}@host.example/b@" + commit,
           "git+https://host.example/${PART}@" + commit,
           "git+https://host.example/b?x=1@" + commit,
           "git+ext::sh -c id@" + commit,
           "git+ext://sh@" + commit,
           "git+--upload-pack=id@" + commit,
           "git+ssh://-oProxyCommand=id/b@" + commit,
           "git+ssh://-oProxyCommand=id@host.example/b@" + commit,
           "git+ssh://git@-oProxyCommand=id/b@" + commit,
           "git+ssh://git:word@host.example/b@" + commit,
           "git+ssh://a@b@host.example/b@" + commit,
           "git+ssh://@host.example/b@" + commit,
           "git+https://host.example/a b@" + commit,
           "git+https://host.example/b\n@" + commit,
           "git+https://host.example/b@" + commit + "#subdirectory=../x",
           "git+https://host.example/b@" + commit + "#subdirectory=/x",
           "hg+https://host.example/b@" + commit,
           "git+",
           "git+@",
       }) {
    const auto package = package_of(requirement);
    CHECK_MESSAGE(package.obstacle, requirement);
    CHECK_MESSAGE(!package.source, requirement);
  }
}

}  // namespace autopack::lock_repository_test
