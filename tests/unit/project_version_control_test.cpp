#include "base/text.hpp"
#include "project/package/version_control.hpp"
#include "project/project.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project_version_control_test {

using namespace autopack::project;
using autopack::source::GitDescription;
using autopack::source::GitTagQuery;
using autopack::source::MemoryTree;

namespace {

using Strings = std::vector<std::string>;
using Variables = std::map<std::string, std::string>;

const std::string scm{"[project]\nname='my.pkg'\ndynamic=['version']\n[tool.setuptools_scm]\n"};
const std::string hatch{"[build-system]\nbuild-backend='hatchling.build'\n[project]\nname='p'\n"};
const std::string pdm{"[build-system]\nbuild-backend='pdm.backend'\n[project]\nname='p'\n"};
const std::string poetry{
    "[build-system]\nbuild-backend='poetry_dynamic_versioning.backend'\n"
    "[tool.poetry]\nname='p'\n[tool.poetry-dynamic-versioning]\nenable=true\n"};

struct Scanned {
  Project project{};
  std::optional<GitTagQuery> asked{};
};

Scanned scan_with(const std::map<std::string, std::string>& files,
                  const std::optional<GitDescription>& git,
                  const Variables& variables = {}) {
  Scanned scanned;
  std::map<std::string, std::string> all{{"run.sh", ""}, {"trainer/__init__.py", ""}};
  all.insert(files.begin(), files.end());
  Request request{.script = "run.sh"};
  request.versions = {.describe =
                          [&](const GitTagQuery& query) {
                            scanned.asked = query;
                            return git;
                          },
                      .variable = [&](const std::string& name) -> std::optional<std::string> {
                        const auto found = variables.find(name);
                        return found == variables.end() ? std::nullopt
                                                        : std::optional{found->second};
                      }};
  scanned.project = scan(MemoryTree{all}, request);
  return scanned;
}

/// Returns the version for the build, followed by every warning.
std::string version_of(const std::string& pyproject,
                       const std::optional<GitDescription>& git,
                       const Variables& variables = {}) {
  const auto scanned = scan_with({{"pyproject.toml", pyproject}}, git, variables);
  std::string text = scanned.project.package->version.value_or("none");
  for (const auto& warning : scanned.project.warnings) {
    text += " | " + warning.message;
  }
  return text;
}

const GitDescription at_tag{.tag = "v1.2.3", .at_tag = true};
const GitDescription later{.tag = "v1.2.3"};

}  // namespace

TEST_CASE("a version from tags is that of its tool") {
  struct Row {
    std::string pyproject;
    std::string at;       ///< at v1.2.3
    std::string between;  ///< one commit later
  };

  const std::vector<Row> rows{
      {scm, "1.2.3", "1.2.4.dev0"},
      {scm + "version_scheme='guess-next-dev'\nlocal_scheme='no-local-version'\n", "1.2.3",
       "1.2.4.dev0"},
      {scm + "version_scheme='no-guess-dev'\n", "1.2.3", "1.2.3.post1.dev0"},
      {scm + "version_scheme='post-release'\n", "1.2.3", "1.2.3.post0"},
      {scm + "version_scheme='python-simplified-semver'\n", "1.2.3", "1.2.4.dev0"},
      {scm + "version_scheme='only-version'\n", "1.2.3", "1.2.3"},
      {scm + "tag_regex='^v(?P<version>.+)$'\n", "1.2.3", "1.2.4.dev0"},
      {hatch + "[tool.hatch.version]\nsource='vcs'\n", "1.2.3", "1.2.4.dev0"},
      {hatch + "[tool.hatch.version]\nsource='vcs'\n[tool.hatch.version.raw-options]\n"
               "version_scheme='no-guess-dev'\n",
       "1.2.3", "1.2.3.post1.dev0"},
      {hatch + "[tool.hatch.version]\nsource='uv-dynamic-versioning'\n", "1.2.3",
       "1.2.3.post0.dev0"},
      {hatch + "[tool.hatch.version]\nsource='versioningit'\n[tool.versioningit]\n", "1.2.3",
       "1.2.3.post0"},
      {hatch + "[tool.hatch.version]\nsource='versioningit'\n[tool.versioningit.next-version]\n"
               "method='minor'\n[tool.versioningit.format]\n"
               "distance='{next_version}.dev{distance}+{vcs}{rev}'\n",
       "1.2.3", "1.3.0.dev0"},
      {pdm + "[tool.pdm.version]\nsource='scm'\n", "1.2.3", "1.2.4.dev0"},
      {poetry, "1.2.3", "1.2.3.post0.dev0"},
      {poetry + "bump=true\n", "1.2.3", "1.2.4.dev0"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.pyproject);
    CHECK(version_of(row.pyproject, at_tag) == row.at);
    CHECK(version_of(row.pyproject, later) == row.between);
  }
}

TEST_CASE("the next version is the one that setuptools-scm guesses") {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"v1.0", "1.1.dev0"},
      {"1", "2.dev0"},
      {"v2.0rc1", "2.0rc2.dev0"},
      {"v2.0-beta.4", "2.0b5.dev0"},
      {"v1.0.post2", "1.0.post3.dev0"},
      {"v1.5.dev0", "1.5.dev0"},
      {"release-3.4.1", "3.4.2.dev0"},
      {"my-pkg-v0.1", "0.2.dev0"},
      {"v1.2.3+local", "1.2.4.dev0"},
      {"1!2.0", "1!2.1.dev0"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.first);
    CHECK(version_of(scm, GitDescription{.tag = row.first}) == row.second);
  }
  CHECK(version_of(scm, GitDescription{.tag = "v1.2", .at_tag = true, .dirty = true}) ==
        "1.3.dev0");
  CHECK(version_of(pdm + "[tool.pdm.version]\nsource='scm'\n",
                   GitDescription{.tag = "v1.2", .at_tag = true, .dirty = true}) == "1.2");
  CHECK(version_of(scm + "version_scheme='no-guess-dev'\n", GitDescription{.tag = "v1.5.dev0"}) ==
        "1.5.dev0");
  const std::string semantic = scm + "version_scheme='python-simplified-semver'\n";
  CHECK(version_of(semantic, GitDescription{.tag = "v1.2.3", .branch = "feature/x"}) ==
        "1.3.0.dev0");
  CHECK(version_of(semantic, GitDescription{.tag = "v1.2", .at_tag = true}) == "1.2.0");
}

TEST_CASE("missing information of git about a version is reported") {
  CHECK(version_of(scm, std::nullopt) ==
        "0.0.0 | the version of the package comes from git's tags, and there is no repository: in "
        "the image it is `0.0.0`");
  CHECK(version_of(scm + "fallback_version='7.1'\n", std::nullopt) == "7.1");
  CHECK(version_of(scm, GitDescription{}) ==
        "0.1.dev0 | the version of the package comes from git's tags, and there is none before "
        "this commit: in the image it is `0.1.dev0`");
  CHECK(version_of(scm, GitDescription{.tag = "nightly-2", .at_tag = true}) == "2");
  CHECK(version_of(scm + "tag_regex='^pkg/(?P<version>.*)$'\n", later) ==
        "0.0.0 | git's tag `v1.2.3` is not a version of the package: in the image it is `0.0.0`");
  CHECK(version_of(scm + "version_scheme='calver-by-date'\n", later) ==
        "1.2.4.dev0 | only setuptools-scm itself can follow `version_scheme`: in the image the "
        "version of the package is `1.2.4.dev0`");
  CHECK(version_of(scm + "tag_regex='^.*(?P<version>[0-9].*)$'\n", later) ==
        "1.2.4.dev0 | only setuptools-scm itself can follow `tag_regex`: in the image the version "
        "of the package is `1.2.4.dev0`");
  const auto shallow = scan_with({{"pyproject.toml", scm}}, GitDescription{.shallow = true});
  REQUIRE(shallow.project.warnings.size() == 1);
  CHECK(join(shallow.project.warnings[0].hints, "\n") ==
        "`--build-env=SETUPTOOLS_SCM_PRETEND_VERSION=VERSION` sets another\n"
        "the clone is shallow: `git fetch --unshallow --tags` fetches the rest");
}

TEST_CASE("the user's own variable says the version") {
  CHECK(version_of(scm, later, {{"SETUPTOOLS_SCM_PRETEND_VERSION", "9.0"}}) == "9.0");
  CHECK(version_of(scm, std::nullopt, {{"SETUPTOOLS_SCM_PRETEND_VERSION_FOR_MY_PKG", "9.1"}}) ==
        "9.1");
  CHECK(version_of(scm, later, {{"SETUPTOOLS_SCM_PRETEND_VERSION_FOR_OTHER", "9.1"}}) ==
        "1.2.4.dev0");
  CHECK(version_of(poetry, later, {{"POETRY_DYNAMIC_VERSIONING_BYPASS", "9.2"}}) == "9.2");
}

TEST_CASE("git is asked for the tags that the project's settings name") {
  const auto asked = [](const std::string& pyproject) {
    const auto query = scan_with({{"pyproject.toml", pyproject}}, later).asked;
    REQUIRE(query);
    return query->match + (query->first_parent ? " first" : "");
  };
  CHECK(asked(scm) == "*[0-9]*");
  CHECK(asked(scm + "git_describe_command='git describe --dirty --tags --long --match v*'\n") ==
        "v*");
  CHECK(asked(scm + "git_describe_command=['git', 'describe', '--tags', '--long', "
                    "'--first-parent', '--match=pkg-*']\n") == "pkg-* first");
  CHECK(asked(scm + "scm.git.describe_command='git describe --tags --match \"w*\"'\n") == "w*");
  CHECK(asked(pdm + "[tool.pdm.version]\nsource='scm'\ntag_filter='p-*'\n") == "p-*");
  CHECK(asked(poetry) == "v[0-9]*");
  for (const char* const command :
       {"git describe --long", "git describe --tags --exclude x*", "./describe.sh"}) {
    CAPTURE(command);
    const auto text = version_of(scm + "git_describe_command='" + command + "'\n", later);
    CHECK(text.find("can follow `git_describe_command`") != std::string::npos);
  }
}

TEST_CASE("setup.py and pbr take versions from tags too") {
  const std::string imports{"from setuptools import setup\n"};
  const std::vector<std::pair<std::string, std::string>> rows{
      {"setup(use_scm_version=True)", "SETUPTOOLS_SCM_PRETEND_VERSION"},
      {"setup(setup_requires=['pbr'], pbr=True)", "PBR_VERSION"}};
  for (const auto& [setup, variable] : rows) {
    const auto scanned = scan_with({{"setup.py", imports + setup}}, later);
    CHECK(scanned.project.package->build_environment.at(variable) == "1.2.4.dev0");
    CHECK(scanned.project.warnings.empty());
  }
  const auto told =
      scan_with({{"setup.py", imports + "setup(use_scm_version={'tag_regex': 'x'})"}}, later);
  REQUIRE(told.project.warnings.size() == 1);
  CHECK(told.project.warnings[0].message.find("`tag_regex`") != std::string::npos);
}

TEST_CASE("a pattern of tags is read as far as it is a prefix") {
  const auto version = [](std::string_view pattern, std::string_view tag) {
    const auto read = TagPattern::from_regexp(pattern);
    if (!read) {
      return std::string{"unread"};
    }
    const auto found = read->version_of(tag);
    return found ? found->str() : "none";
  };
  CHECK(version("^v(?P<version>.*)$", "v1.2") == "1.2");
  CHECK(version("^v(?P<version>.*)$", "1.2") == "none");
  CHECK(version(R"(^(?P<prefix>v)?(?P<version>[^\+]+)(?P<suffix>.*)?$)", "v1.2+x") == "1.2");
  CHECK(version(R"(^(?P<prefix>v)?(?P<version>[^\+]+)(?P<suffix>.*)?$)", "1.2") == "1.2");
  CHECK(version(R"(^(?:pkg-|lib/)v?(\d+.*)$)", "lib/v3.1") == "3.1");
  CHECK(version(R"(^(?:pkg-|lib/)v?(\d+.*)$)", "3.1") == "none");
  CHECK(version(R"(^[vV](?P<version>\d+))", "V4") == "4");
  CHECK(version(R"(pkg\.name-(?P<version>.*))", "pkg.name-1.0") == "1.0");
  for (const char* const other : {"^.*-(?P<version>.*)$", "v1.2", "^(?i)v(.*)$", "[v",
                                  R"(^\w+(.*))", "(?:(?:a|b)c)(.*)", "(?P<x"}) {
    CAPTURE(other);
    CHECK(version(other, "v1.2") == "unread");
  }
}

}  // namespace autopack::project_version_control_test
