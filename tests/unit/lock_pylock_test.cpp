#include "lock/readers.hpp"
#include "lock/select.hpp"
#include "support/locked.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::lock_pylock_test {

using namespace autopack::lock;

namespace {

const std::string head =
    "lock-version = '1.0'\ncreated-by = 'test'\nrequires-python = '>=3.10'\n"
    "extras = ['gpu']\ndependency-groups = ['test']\ndefault-groups = ['main']\n";

const std::string digits(64, 'a');

/// A wheel for every interpreter.
std::string pure(const std::string& name, const std::string& version) {
  return "wheels = [{url = 'https://files.example/x/" + name + "-" + version +
         "-py3-none-any.whl', size = 12, hashes = {sha256 = '" + digits + "'}}]\n";
}

std::string package(const std::string& name, const std::string& more) {
  return "[[packages]]\nname = '" + name + "'\n" + more;
}

LockedSet read(const std::string& text,
               std::vector<std::string> extras = {},
               std::vector<std::string> groups = {},
               const std::string& file = "pylock.toml") {
  const auto interpreter = debian_python();
  return read_pylock(
      text, file,
      {.interpreter = interpreter, .extras = std::move(extras), .groups = std::move(groups)});
}

}  // namespace

TEST_CASE("what autopack left to the executor image is no missing requirement") {
  const auto set = read(head + package("attrs", "version = '25.1.0'\n" + pure("attrs", "25.1.0")) +
                        "[tool.autopack]\nprovided = ['numpy==1.26.4']\n");
  const auto missing = [&](const std::string& requirement) {
    return missing_requirements(set, {{"attrs", {.requirements = {requirement}}}}, {},
                                debian_python());
  };
  CHECK(missing("numpy>=1").empty());
  CHECK(missing("numpy>=2").size() == 1);
  CHECK(missing("scipy").size() == 1);
  CHECK_THROWS_AS(read(head + "[tool.autopack]\nprovided = ['numpy']\n"), Error);
}

TEST_CASE("pylock.toml says which packages are taken") {
  const std::string text =
      head + package("attrs", "version = '25.1.0'\n" + pure("attrs", "25.1.0")) +
      package("colorama", "version = '1'\nmarker = \"sys_platform == 'win32'\"\n") +
      package("cuda", "version = '12'\nmarker = \"'gpu' in extras\"\n" + pure("cuda", "12")) +
      package("pytest",
              "version = '8'\nmarker = \"'test' in dependency_groups\"\n" + pure("pytest", "8")) +
      package("base",
              "version = '1'\nmarker = \"'main' in dependency_groups\"\n" + pure("base", "1"));
  const auto set = read(text);
  CHECK(summary(set) == "attrs==25.1.0 base==1");
  CHECK(set.origin == "pylock.toml");
  CHECK(set.hashed);
  CHECK(set.is_complete);
  CHECK(set.warnings.empty());
  CHECK(set.packages[0].place == "pylock.toml:7");
  REQUIRE(set.packages[0].files.size() == 1);
  const auto& file = set.packages[0].files[0];
  CHECK(file.name == "attrs-25.1.0-py3-none-any.whl");
  CHECK(file.url == "https://files.example/x/attrs-25.1.0-py3-none-any.whl");
  CHECK(file.size == 12);
  CHECK(file.hashes == std::vector{python::Hash{"sha256", digits}});
  CHECK(summary(read(text, {"gpu"}, {"test"})) == "attrs==25.1.0 base==1 cuda==12 pytest==8");
}

TEST_CASE("pylock.toml names files in several ways") {
  const std::string commit(40, 'b');
  const std::string hashes = "hashes = {sha256 = '" + digits + "'}";
  const auto set = read(
      head +
          package("a",
                  "version = '1'\nindex = 'https://me:word@index.example/simple'\n"
                  "sdist = {url = 'https://files.example/a-1.tar.gz', " +
                      hashes + "}\n") +
          package("b", "archive = {url = 'https://files.example/b-2-py3-none-any.whl?x=1', " +
                           hashes + "}\n") +
          package("c", "archive = {url = 'https://files.example/c.tar.gz', " + hashes + "}\n") +
          package("d", "vcs = {type = 'git', url = 'https://host.example/d', commit-id = 'f'}\n") +
          package("da",
                  "vcs = {type = 'git', url = 'https://host.example/d', requested-revision = "
                  "'v1', commit-id = '" +
                      commit + "', subdirectory = 'x/y'}\n") +
          package("db",
                  "vcs = {type = 'git', url = 'https://me:word@host.example/d', commit-id = '" +
                      commit + "'}\n") +
          package("e", "directory = {path = '../lib'}\n") +
          package("f", "version = '1'\nwheels = [{path = 'wheels/f-1-py3-none-any.whl', " + hashes +
                           "}]\n") +
          package("g",
                  "version = '1'\nwheels = [{name = 'g-1-py3-none-any.whl', path = "
                  "'../../w', " +
                      hashes + "}]\n") +
          package("h",
                  "version = '1'\nwheels = [{url = "
                  "'https://me:word@files.example/h-1-py3-none-any.whl', " +
                      hashes + "}]\n") +
          package("mine", "directory = {path = '.', editable = true}\n"),
      {}, {}, "locks/pylock.gpu.toml");
  CHECK(summary(set) == "a==1 b c d da db e f==1 g==1 h==1");
  CHECK_FALSE(set.packages[0].obstacle);
  CHECK(set.packages[0].index == "https://index.example/simple");
  CHECK(set.packages[1].files[0].name == "b-2-py3-none-any.whl");
  CHECK_FALSE(set.packages[1].obstacle);
  CHECK(set.packages[1].is_direct);
  CHECK(set.packages[2].obstacle.has_value());
  CHECK(set.packages[3].obstacle ==
        "it comes from version control, but `f` is not a full commit hash");
  CHECK(set.packages[4].source == LockedSource{.repository = "https://host.example/d",
                                               .commit = commit,
                                               .revision = "v1",
                                               .subdirectory = "x/y"});
  CHECK(set.packages[5].obstacle ==
        "it comes from version control by a URL with a login, a query or a variable");
  CHECK(set.packages[6].source == LockedSource{.directory = "lib"});
  CHECK(set.packages[7].files[0].path == "locks/wheels/f-1-py3-none-any.whl");
  CHECK_FALSE(set.packages[7].is_direct);
  CHECK(set.packages[8].obstacle == "its file is outside the working directory");
  CHECK(set.packages[9].obstacle == "the URL of its file has a login");
  CHECK_FALSE(set.packages[9].files[0].url);
}

TEST_CASE("a URL in a lock leads out of the project no more than a path does") {
  const auto wheel = [](const std::string& url) {
    return read(head + package("a", "version = '1'\nwheels = [{url = '" + url +
                                        "', hashes = {sha256 = '" + digits + "'}}]\n"))
        .packages[0];
  };
  for (const auto* url : {"../a-1-py3-none-any.whl", "/srv/a-1-py3-none-any.whl",
                          "file:///srv/a-1-py3-none-any.whl", "file:/srv/a-1-py3-none-any.whl",
                          "FILE:///srv/a-1-py3-none-any.whl", "ftp://host/a-1-py3-none-any.whl"}) {
    CAPTURE(url);
    CHECK(wheel(url).obstacle == "its file is outside the working directory");
    CHECK_FALSE(wheel(url).files[0].url);
  }
  const auto inside = wheel("wheels/a-1-py3-none-any.whl");
  CHECK_FALSE(inside.obstacle);
  CHECK(inside.files[0].path == "wheels/a-1-py3-none-any.whl");
}

TEST_CASE("a pylock.toml that is not for the image, or wrong, is refused with the place") {
  struct Case {
    std::string text;
    std::string words;
  };

  const std::string start = "lock-version = '1.0'\n";
  for (const auto& [text, words] : std::vector<Case>{
           {"x = [", "pylock.toml:1: `pylock.toml` is not TOML"},
           {"created-by = 'x'", "`lock-version` is missing"},
           {"lock-version = '2.0'", "has lock-version `2.0`, but autopack reads 1"},
           {start + "requires-python = '>=3.12'", "is for Python `>=3.12`, but the executor image"},
           {start + "requires-python = 'new'", "`new` is not a condition on Python versions"},
           {start + "environments = [\"sys_platform == 'win32'\"]", "none of its `environments`"},
           {start + "packages = 1", "pylock.toml:2: `packages` is not an array"},
           {start + "packages = [1]", "an item of `packages` is not a table"},
           {start + package("a", "marker = 'os'\n"), "pylock.toml:2: `os` is not a marker"},
           {start + package("a", "marker = \"implementation_version < '4'\"\nversion = 3\n"),
            "`version` is not a string"},
           {start + package("a/b", pure("a", "1")), "`a/b` is not the name of a package"},
           {start + package("a", "version = 'one'\n" + pure("a", "1")), "`one` of `a` is not"},
           {start + package("a", "version = '1'\n"), "`a` has no source"},
           {start + package("a", "vcs = {}\n" + pure("a", "1")), "`a` has several sources"},
           {start + package("a", "version = '1'\nrequires-python = '<3'\n" + pure("a", "1")),
            "`a` is for Python `<3`"},
           {start + package("a", "version = '1'\n" + pure("b", "1")),
            "`b-1-py3-none-any.whl` is not a wheel of `a` 1"},
           {start + package("a", "version = '1'\n" + pure("a", "2")), "is not a wheel of `a` 1"},
           {start + package("a", pure("a", "1")) + package("A", pure("a", "1")),
            "`a` is chosen twice, at pylock.toml:2 and here"},
           {start + package("a",
                            "wheels = [{url = 'https://f.example/a-1-py3-none-any.whl', hashes "
                            "= {md5 = '00'}}]\n"),
            "has no hash by sha256"},
           {start + package("a", "wheels = [{hashes = {}}]\n"), "neither `path` nor `url`"},
       }) {
    const auto told = refusal([&text = text] { read(text); });
    CHECK_MESSAGE(told.find(words) != std::string::npos, told);
  }
  CHECK(refusal([&] { read(head, {"gpus"}); }) == "`pylock.toml` has no extra `gpus`");
  CHECK(refusal([&] { read(head, {}, {"dev"}); }) == "`pylock.toml` has no group `dev`");
  CHECK(read("lock-version = '1.1'\npackages = []\n").warnings.size() == 1);
}

}  // namespace autopack::lock_pylock_test
