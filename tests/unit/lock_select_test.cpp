#include "lock/readers.hpp"
#include "lock/select.hpp"
#include "project/requirements/locks.hpp"
#include "support/locked.hpp"
#include "support/memory_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace autopack::lock_select_test {

using namespace autopack::lock;

namespace {

LockedPackage pinned(const char* version) {
  return {.name = "pkg", .version = python::Version::parse(version), .place = "requirements.txt:3"};
}

std::vector<Candidate> named(const std::vector<std::string>& names) {
  std::vector<Candidate> candidates;
  std::transform(names.begin(), names.end(), std::back_inserter(candidates),
                 [](const auto& name) { return Candidate{.name = name}; });
  return candidates;
}

python::Hash hash(char digit) {
  return python::Hash::parse(sha256_of(digit)).value();
}

}  // namespace

TEST_CASE("the file of a pinned version is chosen as pip chooses it") {
  struct Case {
    const char* version;
    std::vector<std::string> names;
    std::optional<std::size_t> chosen;
  };

  const FileChooser chooser{debian_python()};
  const std::string binary = "-cp311-cp311-manylinux_2_17_x86_64.whl";
  const std::string pure = "-py3-none-any.whl";
  for (const auto& [version, names, chosen] : std::vector<Case>{
           {"1.0", {"pkg-1.0.tar.gz", "pkg-1.0" + pure, "pkg-1.0" + binary}, 2},
           {"1.0", {"pkg-1.0" + pure, "pkg-1.0+cpu" + pure, "pkg-1.1" + pure}, 1},
           {"1.0+cpu", {"pkg-1.0" + pure, "pkg-1.0+cpu" + pure, "pkg-1.0+cu1" + pure}, 1},
           {"1.0.0", {"other-1.0" + pure, "Pkg-1" + pure}, 1},
           {"1.0", {"pkg-1.0-2" + pure, "pkg-1.0-10" + pure, "pkg-1.0" + pure}, 1},
           {"1.0", {"pkg-1.0" + pure, "pkg-1.0" + pure}, 0},
           {"1.0", {"pkg-1.0-cp310-cp310-linux_x86_64.whl", "pkg-1.0.zip"}, std::nullopt},
       }) {
    CHECK(chooser.choose(pinned(version), named(names)).chosen == chosen);
  }
}

TEST_CASE("the nearest candidate explains why no file is chosen") {
  const FileChooser chooser{debian_python()};
  const auto reason = [&](const LockedPackage& package, const std::vector<Candidate>& candidates) {
    return chooser.choose(package, candidates).reason;
  };
  const auto package = pinned("1.0");
  CHECK(reason(package, {}) == "there is no wheel of `pkg` 1.0");
  CHECK(reason(package, named({"pkg-2.0-py3-none-any.whl"})) == "there is no `pkg` 1.0");
  CHECK(reason(package, named({"pkg-1.0-cp310-cp310-linux_x86_64.whl"})) ==
        "no wheel of `pkg` 1.0 is for cp311 manylinux_2_36_x86_64");
  CHECK(reason(package, named({"pkg-1.0.tar.gz"})) ==
        "there is no wheel of `pkg` 1.0: there is only a source distribution");
  CHECK(chooser.choose(package, named({"pkg-0.9.tar.gz", "pkg-1.0.tar.gz"})).source == 1U);
  CHECK(reason(package, {{.name = "pkg-1.0-py3-none-any.whl", .requires_python = ">=3.12"}}) ==
        "no wheel of `pkg` 1.0 is for this version of Python");
  auto hashed = package;
  hashed.hashes = {hash('a')};
  CHECK(reason(hashed, {{.name = "pkg-1.0-py3-none-any.whl", .hashes = {hash('b')}}}) ==
        "no file of `pkg` 1.0 has a hash that requirements.txt:3 allows");
}

TEST_CASE("hashes narrow the choice, and yanked files come last") {
  const FileChooser chooser{debian_python()};
  auto package = pinned("1.0");
  std::vector<Candidate> candidates{
      {.name = "pkg-1.0-cp311-cp311-linux_x86_64.whl", .hashes = {hash('b')}},
      {.name = "pkg-1.0-py3-none-any.whl", .hashes = {hash('c'), hash('a')}}};
  CHECK(chooser.choose(package, candidates).chosen == 0);
  package.hashes = {hash('a')};
  CHECK(chooser.choose(package, candidates).chosen == 1);
  candidates[0].hashes.clear();
  CHECK(chooser.choose(package, candidates).chosen == 1);
  package.hashes.clear();
  CHECK(chooser.choose(package, candidates).chosen == 0);
  candidates[0].yanked = true;
  CHECK(chooser.choose(package, candidates).chosen == 1);
  candidates[0].name = "pkg-1.0+cpu-py3-none-any.whl";
  CHECK(chooser.choose(package, candidates).chosen == 1);
  candidates[1].yanked = true;
  CHECK(chooser.choose(package, candidates).chosen == 0);
}

TEST_CASE("options decide whether a wheel or a source distribution is taken") {
  const FileChooser chooser{debian_python()};
  const auto candidates = named({"pkg-1.0.tar.gz", "pkg-1.0-py3-none-any.whl"});
  auto package = pinned("1.0");
  CHECK(chooser.choose(package, candidates).chosen == 1U);
  CHECK_FALSE(chooser.choose(package, candidates).source);
  package.formats = autopack::lock::Formats::sources;
  CHECK_FALSE(chooser.choose(package, candidates).chosen);
  CHECK(chooser.choose(package, candidates).source == 0U);
  CHECK(chooser.choose(package, named({"pkg-1.0-py3-none-any.whl"})).reason ==
        "`--no-binary` asks for a source distribution of `pkg` 1.0, but there is none");
  package.formats = autopack::lock::Formats::wheels;
  CHECK_FALSE(chooser.choose(package, named({"pkg-1.0.tar.gz"})).source);
}

TEST_CASE("a package that only an engine installs says why") {
  const FileChooser chooser{debian_python()};
  auto package = pinned("1.0");
  CHECK_FALSE(chooser.obstacle(package));
  package.files = {{.name = "pkg-1.0-py3-none-any.whl"}};
  CHECK_FALSE(chooser.obstacle(package));
  package.files = {{.name = "pkg-1.0-cp312-cp312-win_amd64.whl"}, {.name = "pkg-1.0.tar.gz"}};
  CHECK_FALSE(chooser.obstacle(package));
  package.files.pop_back();
  CHECK(chooser.obstacle(package) == "no wheel of `pkg` 1.0 is for cp311 manylinux_2_36_x86_64");
  package.source = autopack::lock::LockedSource{.directory = "lib"};
  CHECK_FALSE(chooser.obstacle(package));
  package.obstacle = "it comes from version control";
  CHECK(chooser.obstacle(package) == "it comes from version control");
}

TEST_CASE("missing pins are found in the metadata of the wheels") {
  const auto package = [](const char* name, const char* version,
                          std::vector<std::string> extras = {}) {
    return LockedPackage{.name = name,
                         .version = python::Version::parse(version),
                         .extras = std::move(extras),
                         .place = std::string{"requirements.txt:"} + name};
  };
  const LockedSet set{
      .packages = {package("a", "1", {"fast"}), package("b", "2rc1"), package("c", "3")}};
  const auto missing = [&](const std::map<std::string, std::vector<std::string>>& lines,
                           std::vector<std::string> project = {}) {
    std::map<std::string, Needs> needs;
    for (const auto& [name, requirements] : lines) {
      needs[name].requirements = requirements;
    }
    return missing_requirements(set, needs, {.requirements = std::move(project)}, debian_python());
  };
  using Lines = std::vector<std::string>;
  CHECK(missing({{"a", {"b>=1", "c[slow]", "w; sys_platform == 'win32'", "y; extra == 'other'"}},
                 {"c", {"x; extra == 'fast'"}}})
            .empty());
  CHECK(missing({{"a", {"d>=1; extra == 'fast'"}}}) ==
        Lines{"`a` needs `d>=1`, which is not pinned"});
  CHECK(missing({{"a", {"c[slow]"}}, {"c", {"e; extra == \"slow\""}}}) ==
        Lines{"`c` needs `e`, which is not pinned"});
  CHECK(missing({{"b", {"c (<3)"}}}) == Lines{"`b` needs `c<3`, but requirements.txt:c pins 3"});
  CHECK(missing({}, {"b", "c>=4"}) ==
        Lines{"the project needs `c>=4`, but requirements.txt:c pins 3"});
  CHECK(missing({{"b", {"c; implementation_version < 'x' and os == 1"}}}).size() == 1);
  CHECK(missing({{"b", {"=1"}}}) == Lines{"`b` needs `=1`, which cannot be read"});
}

TEST_CASE("locks are found in the order of preference and read by their names") {
  source::MemoryTree tree{{"Pipfile.lock", ""},
                          {"pdm.lock", ""},
                          {"poetry.lock", ""},
                          {"pylock.a.b.toml", ""},
                          {"pylock.gpu.toml", "lock-version = '1.0'\npackages = []\n"},
                          {"pylock.cpu.toml", ""},
                          {"pylock.toml", ""},
                          {"sub/uv.lock", ""},
                          {"uv.lock", "version = 1\n[manifest]\n"}};
  CHECK(project::find_locks(tree) ==
        std::vector<std::string>{"pylock.toml", "pylock.cpu.toml", "pylock.gpu.toml", "uv.lock",
                                 "poetry.lock", "pdm.lock", "Pipfile.lock"});
  const auto interpreter = debian_python();
  CHECK(read_lock(tree, "pylock.gpu.toml", {.interpreter = interpreter}).origin ==
        "pylock.gpu.toml");
  CHECK(read_lock(tree, "uv.lock", {.interpreter = interpreter}).packages.empty());
  CHECK(project::lock_format("sub/uv.lock") == project::LockFormat::uv);
  CHECK_FALSE(project::lock_format("pylock..toml"));
  CHECK(refusal([&] { read_lock(tree, "lock", {.interpreter = interpreter}); }) ==
        "`lock` is not the name of a lock");
}

TEST_CASE("the directories that a lock has built are found before it is read") {
  using autopack::project::directories_in_lock;
  using Directories = std::vector<std::string>;
  CHECK(directories_in_lock(
            "locks/pylock.toml",
            "packages = [{directory = {path = '../b'}}, {directory = {path = '.'}}, "
            "{directory = {path = '/b'}}, {directory = {path = '../../b'}}, 1, "
            "{directory = {path = 'a'}}, {directory = 'c'}]") == Directories{"b", "locks/a"});
  CHECK(directories_in_lock("uv.lock",
                            "package = [{source = {editable = 'b'}}, {source = {directory = 'a'}}, "
                            "{source = {virtual = 'c'}}, {source = {editable = '.'}}]") ==
        Directories{"a", "b"});
  CHECK(directories_in_lock("poetry.lock",
                            "package = [{source = {type = 'directory', url = 'a'}}, "
                            "{source = {type = 'file', url = 'b'}}]") == Directories{"a"});
  CHECK(directories_in_lock("pdm.lock",
                            "package = [{path = './a'}, {path = './b-1-py3-none-any.whl'}]") ==
        Directories{"a"});
  CHECK(directories_in_lock("Pipfile.lock",
                            R"({"default": {"x": {"path": "./a"}, "y": {"git": "g", "path": "b"}},
                                "develop": {"z": {"path": "."}}, "_meta": 1})") ==
        Directories{"a"});
  for (const char* file : {"pylock.toml", "uv.lock", "Pipfile.lock", "other"}) {
    CHECK(directories_in_lock(file, "[").empty());
    CHECK(directories_in_lock(file, "package = 1\npackages = 1").empty());
  }
}

}  // namespace autopack::lock_select_test
