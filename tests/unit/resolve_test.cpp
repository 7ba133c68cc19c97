#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "resolve/interpreter_script.hpp"
#include "resolve/resolver.hpp"
#include "resolve/uv.hpp"
#include "support/locked.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>

namespace autopack::resolve_test {

using namespace autopack::resolve;

namespace {

/// A program in place of uv: `body` is a shell script in the project's directory. The lock that it
/// leaves gets uv's head.
class FakeUv {
public:
  explicit FakeUv(const std::string& body) {
    write_file(program_,
               "#!/bin/sh\ncd \"$2\" || exit 9\ntrap '{ printf \"#\\ncreated-by = \\\"uv\\\"\\n\"; "
               "cat pylock.toml; } > made && mv made pylock.toml' EXIT\n" +
                   body);
    std::filesystem::permissions(program_, std::filesystem::perms::owner_all);
  }

  using ReadSource = std::function<std::optional<std::vector<std::string>>(const std::string&,
                                                                           const std::string&)>;

  using Newest = std::function<std::optional<python::Version>(const std::string&)>;

  using FindUnfit = std::function<std::vector<Unfit>(const std::string&)>;

  using NameSources = std::function<std::vector<std::string>()>;

  using ReadChosen = std::function<std::optional<std::vector<SourceMetadata>>(
      const std::string&, const std::vector<std::string>&)>;

  /// Answers for sources that are in no index.
  Resolution answer_with(const Question& question,
                         const NameSources& name_sources,
                         const ReadChosen& read_chosen) const {
    const Uv uv{.path = program_.string(), .version = "0.13.9", .origin = "a test"};
    const Environment environment{{{"XDG_CACHE_HOME", directory_.path().string()}}};
    return resolve::resolve(question, {.uv = uv,
                                       .environment = environment,
                                       .indexes = {},
                                       .name_sources = name_sources,
                                       .read_chosen = read_chosen});
  }

  Resolution answer(const Question& question,
                    const index::IndexSettings& indexes = {},
                    const ReadSource& read_source = {},
                    const Newest& newest = {},
                    const FindUnfit& unfit = {}) const {
    const Uv uv{.path = program_.string(), .version = "0.13.9", .origin = "a test"};
    const Environment environment{
        {{"XDG_CACHE_HOME", directory_.path().string()}, {"SECRET_OF_THE_USER", "hunter2"}}};
    return resolve::resolve(question, {.uv = uv,
                                       .environment = environment,
                                       .indexes = indexes,
                                       .read_source = read_source,
                                       .newest = newest,
                                       .unfit = unfit});
  }

  /// Resolves without an index, offline.
  Resolution answer_offline(const Question& question) const {
    const Uv uv{.path = program_.string(), .version = "0.13.9", .origin = "a test"};
    const Environment environment{
        {{"XDG_CACHE_HOME", directory_.path().string()}, {"UV_OFFLINE", "1"}}};
    return resolve::resolve(question, {.uv = uv, .environment = environment, .indexes = {}});
  }

  /// Returns what `body` wrote to a file `written` beside it.
  std::string written() const { return read_file(directory_.path() / "written"); }

private:
  TemporaryDirectory directory_;
  std::filesystem::path program_{directory_.path() / "uv"};
};

Question question(std::vector<Installed> installed = {}) {
  return {.write_files = [](const auto& folder) { write_file(folder / "r.txt", "torch\n"); },
          .requirement_files = {"r.txt"},
          .interpreter = lock::debian_python(),
          .installed = std::move(installed)};
}

std::string entry(const std::string& name, const std::string& version) {
  return "[[packages]]\nname = \"" + name + "\"\nversion = \"" + version + "\"\n";
}

std::string failure(const FakeUv& uv, const Question& asked = question()) {
  try {
    uv.answer(asked);
  } catch (const Error& error) {
    std::string text = to_string(error.kind()) + ": " + error.message();
    for (const auto& cause : error.causes()) {
      text += "\n" + cause;
    }
    for (const auto& hint : error.hints()) {
      text += "\nhint: " + hint;
    }
    return text;
  }
  return "no error";
}

}  // namespace

TEST_CASE("the stand-in for an interpreter prints its description and nothing else") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "python";
  write_file(path, interpreter_script(lock::debian_python(), path.string(), "/it's empty"));
  const auto printed = run_process({"/bin/sh", path.string(), "-c", "import os"}, "");
  REQUIRE(printed);
  const auto description = parse_json(printed->output);
  REQUIRE_FALSE(description.is_discarded());
  CHECK(description["markers"]["python_full_version"] == "3.11.2");
  CHECK(description["markers"]["sys_platform"] == "linux");
  CHECK(description["os"]["name"] == "manylinux");
  CHECK(description["sys_path"][0] == "/it's empty");
}

TEST_CASE("what a project says for uv is passed on, and the indexes of pip follow") {
  const FakeUv uv{
      "cat ../uv.toml autopack-requirements/pyproject.toml autopack-requirements.txt > ../all\n"
      "env | sort >> ../all; printf '%s\\n' \"$@\" >> ../all; cp ../all \"$(dirname "
      "\"$0\")/written\"\n"};
  auto asked = question();
  asked.requirements = {"torch>=2", "rich"};
  asked.indexes = {{.name = "pt", .url = "https://host/whl", .is_explicit = true},
                   {.name = "house", .url = "https://host/simple", .is_default = true},
                   {.name = "page", .url = "https://host/page", .is_flat = true}};
  asked.sources = {{"torch", "[{ index = \"pt\" }]"}};
  asked.options = "prerelease = \"allow\"\n";
  index::IndexSettings indexes;
  indexes.indexes = {{.url = "https://default/simple"}, {.url = "https://extra/simple"}};
  uv.answer(asked, indexes);
  const auto text = uv.written();
  CHECK(text.find(
            "prerelease = \"allow\"\n"
            "[[index]]\nname = \"house\"\nurl = \"https://host/simple\"\ndefault = true\n"
            "[[index]]\nname = \"page\"\nurl = \"https://host/page\"\nformat = \"flat\"\n"
            "[project]\nname = \"autopack-requirements\"\nversion = \"0\"\n"
            "dependencies = [\"torch>=2\"]\n\n"
            "[tool.uv.sources]\n\"torch\" = [{ index = \"pt\" }]\n\n"
            "[[tool.uv.index]]\nname = \"pt\"\nurl = \"https://host/whl\"\nexplicit = true\n") !=
        std::string::npos);
  CHECK(text.find("\nrich\n") != std::string::npos);
  CHECK(text.find("\nr.txt\nautopack-requirements/pyproject.toml\nautopack-requirements.txt\n") !=
        std::string::npos);
  CHECK(text.find("UV_DEFAULT_INDEX") == std::string::npos);
  CHECK(text.find("UV_INDEX_STRATEGY") == std::string::npos);
  CHECK(text.find("UV_INDEX=https://extra/simple\n") != std::string::npos);
  asked.indexes.resize(1);
  uv.answer(asked, indexes);
  CHECK(uv.written().find("UV_INDEX_STRATEGY=unsafe-best-match\n") != std::string::npos);
  CHECK(uv.written().find("UV_DEFAULT_INDEX=https://default/simple\n") != std::string::npos);
}

TEST_CASE("a program that writes no lock is not believed") {
  CHECK(failure(FakeUv{"trap - EXIT\n"}).ends_with(" ended without a lock"));
  CHECK(failure(FakeUv{"trap - EXIT; exit 7\n"}) ==
        "environment: uv ended with status 7 and printed nothing");
}

TEST_CASE("what the image has at the resolved version is not chosen again") {
  const FakeUv uv{R"(printf '%s\n' 'lock-version = "1.0"' '' ')" + entry("numpy", "1.26.4") +
                  "' '" + entry("rich", "14.0") + "' '" + entry("six", "1.17.0") +
                  "' > pylock.toml\n"};
  const auto found = uv.answer(question({{.name = "numpy", .version = "1.26.4"},
                                         {.name = "six", .version = "1.16"},
                                         {.name = "other", .version = "1"}}));
  CHECK(found.chosen == 2);
  CHECK(found.packages.find("numpy") == std::string::npos);
  CHECK(found.packages.find("rich") != std::string::npos);
  REQUIRE(found.provided.size() == 1);
  CHECK(found.provided[0].name == "numpy");
  REQUIRE(found.replaced.size() == 1);
  CHECK(found.replaced[0].installed.version == "1.16");
  CHECK(found.replaced[0].version == "1.17.0");
}

TEST_CASE("a package of the image that a replaced one breaks is reported") {
  const FakeUv uv{
      "printf '%s\\n' '[[packages]]' 'name = \"numpy\"' 'version = \"2.1\"' > pylock.toml\n"};
  const auto found = uv.answer(question(
      {{.name = "numpy", .version = "1.26.4"},
       {.name = "scipy", .version = "1.10", .requirements = {"numpy (<1.27,>=1.19)"}},
       {.name = "fits", .version = "1", .requirements = {"numpy>=1.19"}},
       {.name = "extra", .version = "1", .requirements = {"numpy<2; extra == 'old'"}},
       {.name = "other", .version = "1", .requirements = {"numpy<2; python_version<'3'"}}}));
  REQUIRE(found.broken.size() == 1);
  CHECK(found.broken[0].installed.name == "scipy");
  CHECK(found.broken[0].requirement == "numpy<1.27,>=1.19");
}

TEST_CASE("a heavy framework of the image stays unless that has no solution") {
  const std::string solve = "printf '%s\\n' '" + entry("torch", "2.15.0") + "' > pylock.toml\n";
  const std::vector<Installed> installed{{.name = "torch", .version = "2.4.0+cu124"}};
  const FakeUv strict{
      "if grep -q '^torch==2.4.0+cu124$' ../constraints.txt; then\n"
      "  echo 'error: No solution found when resolving dependencies' >&2; exit 1\nfi\n" +
      solve};
  const auto found = strict.answer(question(installed));
  REQUIRE(found.replaced.size() == 1);
  CHECK(found.replaced[0].version == "2.15.0");
  const FakeUv failing{"echo 'error: bad line' >&2; exit 2\n"};
  CHECK(failure(failing, question(installed)) ==
        "project: the requirements cannot be resolved\nbad line");
}

TEST_CASE("a source distribution that uv would build is read, if it can be") {
  const FakeUv uv{
      "config=$(echo \"$*\" | sed 's/.*--config-file=\\([^ ]*\\).*/\\1/')\n"
      "for name in one two; do grep -q \"name = \\\"$name\\\"\" \"$config\" && continue\n"
      "  echo \"error: Failed to build \\`$name==1.0\\`\" >&2; exit 1\ndone\n"
      "grep -q 'requires-dist = \\[\"six; extra == .x.\"\\]' \"$config\" || exit 7\n"
      "printf '' > pylock.toml\n"};
  std::vector<std::string> read;
  const auto reader = [&](const std::string& name, const std::string& version) {
    read.push_back(name + " " + version);
    return std::optional{std::vector<std::string>{"six; extra == 'x'", " "}};
  };
  const auto sources = uv.answer(question(), {}, reader).sources;
  CHECK(read == std::vector<std::string>{"one 1.0", "two 1.0"});
  REQUIRE(sources.size() == 2);
  // The next time, none is read.
  auto again = question();
  again.sources_read = sources;
  CHECK(uv.answer(again, {}, reader).sources.empty());
  CHECK(read.size() == 2);
  const FakeUv endless{"echo \"error: Failed to build \\`one==1.0\\`\" >&2; exit 1\n"};
  CHECK_THROWS_AS(endless.answer(question(), {}, reader), BuildNeeded);
  CHECK(read.size() <= 60);
  const FakeUv local{"echo 'error: Failed to build `lib @ file:///x`' >&2; exit 1\n"};
  CHECK_THROWS_AS(local.answer(question(), {}, reader), BuildNeeded);
}

TEST_CASE("what a directory or a repository requires is known after a build of the chosen commit") {
  // Like uv, it has to build an unnamed line, and a named one without metadata.
  const FakeUv uv{
      "config=$(echo \"$*\" | sed 's/.*--config-file=\\([^ ]*\\).*/\\1/')\n"
      "if grep -qx ./lib r.txt; then echo 'error: The build backend returned an error' >&2; exit "
      "1; "
      "fi\n"
      "name=$(sed 's/ @.*//' r.txt)\n"
      "grep -q \"name = \\\"$name\\\"\" \"$config\" || { echo \"error: Failed to build "
      "\\`$name @ file:///x\\`\" >&2; exit 1; }\n"
      "printf '[[packages]]\\nname = \"%s\"\\n' \"$name\" > pylock.toml\n"
      "grep -q six \"$config\" && printf '[[packages]]\\nname = \"six\"\\n' >> pylock.toml\n"
      "true\n"};
  std::string line{"./lib"};
  auto asked = question();
  asked.write_files = [&](const auto& folder) { write_file(folder / "r.txt", line + "\n"); };
  std::vector<std::string> names;
  const auto name_sources = [&] {
    line = "given-1 @ ./lib";
    return std::vector<std::string>{"given-1"};
  };
  const auto read_chosen = [&](const std::string& lock, const std::vector<std::string>& chosen) {
    CHECK(lock.find("given-1") != std::string::npos);
    names = chosen;
    line = "lab @ ./lib";
    return std::optional{
        std::vector<SourceMetadata>{{.name = "lab", .version = "2.0", .requirements = {"six"}}}};
  };
  const auto packages = uv.answer_with(asked, name_sources, read_chosen).packages;
  CHECK(packages.find("\"lab\"") != std::string::npos);
  CHECK(packages.find("\"six\"") != std::string::npos);
  CHECK(packages.find("given") == std::string::npos);
  CHECK(names == std::vector<std::string>{"given-1"});

  // It is the build that is missing if there is no solution without it, or if nothing can build.
  const FakeUv strict{
      "config=$(echo \"$*\" | sed 's/.*--config-file=\\([^ ]*\\).*/\\1/')\n"
      "grep -q 9999 \"$config\" && { echo 'error: No solution found' >&2; exit 1; }\n"
      "echo 'error: Failed to build `lab @ file:///x`' >&2; exit 1\n"};
  CHECK_THROWS_AS(strict.answer_with(question(), name_sources, read_chosen), BuildNeeded);
  line = "./lib";
  const auto nothing = [](const auto&, const auto&) { return std::nullopt; };
  CHECK_THROWS_AS(uv.answer_with(asked, name_sources, nothing), BuildNeeded);
}

TEST_CASE("versions that are not for the interpreter are excluded until none is chosen") {
  const FakeUv uv{
      "for version in 3.0 2.0 1.0; do grep -qx \"old!=$version\" ../constraints.txt || break; "
      "done\n"
      "if grep -qx 'old!=1.0' ../constraints.txt; then echo 'error: No solution found' >&2; exit "
      "1; "
      "fi\nprintf '%s\\n' '[[packages]]' 'name = \"old\"' \"version = \\\"$version\\\"\" > "
      "pylock.toml\n"};
  std::size_t least = 1;
  const auto unfit = [&](const std::string& packages) {
    std::vector<Unfit> found;
    for (const char version : {'3', '2', '1'}) {
      if (packages.find(std::string{"\""} + version + ".0\"") != std::string::npos &&
          version > static_cast<char>('0' + least)) {
        found.push_back({.name = "old",
                         .version = std::string{version} + ".0",
                         .requires_python = "<3.8",
                         .excluded = {std::string{version} + ".0"}});
      }
    }
    return found;
  };
  CHECK(uv.answer(question(), {}, {}, {}, unfit).packages.find("\"1.0\"") != std::string::npos);
  least = 0;
  try {
    uv.answer(question(), {}, {}, {}, unfit);
    FAIL("no error");
  } catch (const Error& error) {
    REQUIRE(error.problems().size() == 3);
    CHECK(error.problems()[0].message ==
          "`old` 3.0 requires Python <3.8, and the executor image has 3.11.2");
  }
}

TEST_CASE("a failure of git or of an index is short") {
  const FakeUv git{
      "printf '%s\\n' 'error: Failed to download and build `foo @ "
      "git+https://u:word@host/a.git@main`' "
      "'  cause: Git operation failed' '  cause: failed to clone into: /x' "
      "\"  cause: process failed: git fetch --update-head-ok 'https://u:word@host/a.git' '+x'\" "
      "'         --- stderr' '         fatal: could not read Username' >&2; exit 1\n"};
  CHECK(failure(git) ==
        "project: could not fetch `https://***@host/a.git`\n"
        "git: could not read Username\n"
        "hint: `git ls-remote https://***@host/a.git` shows whether this machine may read it");
  const FakeUv no_git{
      "printf '%s\\n' 'error: Failed to download and build `foo @ git+https://host/a.git`' "
      "'  cause: Git operation failed' '  cause: Git executable not found. Ensure that Git is "
      "installed and available.' >&2; exit 1\n"};
  CHECK(failure(no_git) ==
        "environment: `https://host/a.git` cannot be fetched: there is no git on this machine\n"
        "hint: install git");
  const FakeUv index{
      "printf '%s\\n' 'error: Request failed after 3 retries in 5.1s' "
      "'  cause: Failed to fetch: https://host/simple/rich/' '  cause: error sending request' "
      "'  cause: no such host' >&2; exit 1\n"};
  CHECK(failure(index) ==
        "remote: an index failed while the requirements were resolved\n"
        "https://host/simple/rich/: no such host");
}

TEST_CASE("extras that a package does not have are reported") {
  const FakeUv uv{
      "echo 'warning: The package `jax==0.10.2` does not have an extra named `cuda12_pip`' >&2\n"
      "printf '' > pylock.toml\n"};
  CHECK(uv.answer(question()).missing_extras ==
        std::vector<MissingExtra>{{.name = "jax", .version = "0.10.2", .extra = "cuda12_pip"}});
}

TEST_CASE("what is left far behind is raised if that solves") {
  const std::string solve =
      "if grep -q '^far>2.0$' ../constraints.txt; then version=5.0; else version=2.0; fi\n"
      "printf '%s\\n' '[[packages]]' 'name = \"far\"' \"version = \\\"$version\\\"\" > "
      "pylock.toml\n";
  auto asked = question();
  const auto newest = [](const std::string& version) {
    return [version](const std::string&) { return python::Version::parse(version); };
  };
  const FakeUv uv{solve};
  CHECK(uv.answer(asked, {}, {}, newest("5.0")).raised.empty());  // only a dependency
  asked.direct = {"far"};
  CHECK(uv.answer(asked, {}, {}, newest("2.5")).raised.empty());
  CHECK(uv.answer(asked, {}, {}, newest("2.9")).raised.size() == 1);
  const auto found = uv.answer(asked, {}, {}, newest("5.0"));
  REQUIRE(found.raised.size() == 1);
  CHECK(found.raised[0] == Raised{.name = "far", .before = "2.0", .version = "5.0"});
  const FakeUv failing{
      "grep -q '^far>' ../constraints.txt && { echo 'error: No solution found' >&2; exit 1; }\n" +
      solve};
  CHECK(failing.answer(asked, {}, {}, newest("5.0")).packages.find("2.0") != std::string::npos);
  asked.before = entry("far", "2.0");
  CHECK(uv.answer(asked, {}, {}, newest("5.0")).raised.empty());  // as it was locked
}

TEST_CASE("a version without a wheel for this Python names the Pythons that have one") {
  const auto hint_of = [](const std::string& hint) {
    return failure(
        FakeUv{"echo 'error: No solution found' >&2\necho 'hint: " + hint + "' >&2\nexit 1\n"});
  };
  const std::string begin =
      "You require CPython 3.11 (`cp311`), but we only found wheels for `torch` (v1.11.0) with the "
      "following Python ABI tags: ";
  CHECK(hint_of(begin + "`cp27mu`, `cp37m`, `cp310`, `cp310t`")
            .find("hint: take an executor image with Python 2.7 or 3.7 or 3.10, for which `torch` "
                  "1.11.0 has wheels") != std::string::npos);
  CHECK(hint_of(begin + "`abi3`").find("hint: You require CPython 3.11") != std::string::npos);
  CHECK(hint_of(begin + "`cp`").find("hint: You require CPython 3.11") != std::string::npos);
}

TEST_CASE("nothing is raised to a pre-release, unless pre-releases are wanted") {
  const FakeUv uv{
      "if grep -q '^far>2.0$' ../constraints.txt; then version=5.0.dev2; else version=2.0; fi\n"
      "printf '%s\\n' '[[packages]]' 'name = \"far\"' \"version = \\\"$version\\\"\" > "
      "pylock.toml\n"};
  auto asked = question();
  asked.direct = {"far"};
  const auto newest = [](const std::string&) { return python::Version::parse("6.0"); };
  CHECK(uv.answer(asked, {}, {}, newest).packages.find("\"2.0\"") != std::string::npos);
  asked.prereleases = true;
  CHECK(uv.answer(asked, {}, {}, newest).packages.find("5.0.dev2") != std::string::npos);
}

TEST_CASE("what the project requires itself does not sink for another that rises") {
  const FakeUv uv{
      "grep -q '^far>2.0$' ../constraints.txt && far=5.0 || far=2.0\n"
      "[ $far = 2.0 ] || grep -q '^other>=3.0$' ../constraints.txt && other=3.0 || other=2.0\n"
      "[ $far = 2.0 ] || grep -q '^there==1.0$' ../constraints.txt || exit 7\n"
      "for one in \"far $far\" \"other $other\" 'there 1.0'; do set -- $one\n"
      "printf '%s\\n' '[[packages]]' \"name = \\\"$1\\\"\" \"version = \\\"$2\\\"\"; done > "
      "pylock.toml\n"};
  auto asked = question({{.name = "there", .version = "1.0"}});
  asked.direct = {"far", "other"};
  const auto newest = [](const std::string& name) {
    return python::Version::parse(name == "far" ? "5.0" : "3.0");
  };
  const auto found = uv.answer(asked, {}, {}, newest);
  CHECK(found.packages.find("5.0") != std::string::npos);
  CHECK(found.packages.find("name = \"other\"\nversion = \"3.0\"") != std::string::npos);
}

TEST_CASE("another requirement becomes a little older for one that is far behind") {
  const auto answered = [](const std::string& lower) {
    const FakeUv uv{
        "far=2.0; other=3.9\n"
        "if grep -q '^far>2.0$' ../constraints.txt; then\n"
        "grep -q '^other>=' ../constraints.txt && { echo 'error: No solution found' >&2; exit 1; "
        "}\n"
        "far=5.0; other=" +
        lower +
        "; fi\n"
        "for one in \"far $far\" \"other $other\"; do set -- $one\n"
        "printf '%s\\n' '[[packages]]' \"name = \\\"$1\\\"\" \"version = \\\"$2\\\"\"; done > "
        "pylock.toml\n"};
    auto asked = question();
    asked.direct = {"far", "other"};
    return uv.answer(asked, {}, {}, [](const std::string& name) {
      return python::Version::parse(name == "far" ? "5.0" : "3.9");
    });
  };
  const auto found = answered("3.8");
  CHECK(found.raised == std::vector<Raised>{{.name = "far", .before = "2.0", .version = "5.0"}});
  CHECK(found.packages.find("\"3.8\"") != std::string::npos);
  CHECK(answered("2.0").raised.empty());
}

TEST_CASE("nothing is raised at the cost of a package of the image") {
  const FakeUv uv{
      "if grep -q '^far>2.0$' ../constraints.txt; then far=5.0; low=2.0; else far=2.0; low=1.0; "
      "fi\n"
      "for one in \"far $far\" \"low $low\"; do set -- $one\n"
      "printf '%s\\n' '[[packages]]' \"name = \\\"$1\\\"\" \"version = \\\"$2\\\"\"; done > "
      "pylock.toml\n"};
  auto asked = question({{.name = "low", .version = "1.0"}});
  asked.direct = {"far"};
  const auto newest = [](const std::string&) { return python::Version::parse("5.0"); };
  const auto kept = uv.answer(asked, {}, {}, newest);
  CHECK(kept.raised.empty());
  CHECK(kept.replaced.empty());
  asked.installed.clear();
  CHECK(uv.answer(asked, {}, {}, newest).raised.size() == 1);
}

TEST_CASE("earlier versions are preferred, those of the lock before those of the image") {
  auto asked = question({{.name = "numpy", .version = "1.26.4"}, {.name = "six", .version = "1"}});
  asked.before = "lock-version = \"1.0\"\n\n" + entry("numpy", "2.0") + entry("rich", "13.0");
  asked.upgrades = {"rich"};
  const FakeUv uv{
      "grep -q '\"2.0\"' pylock.toml && ! grep -q '1.26.4' pylock.toml && "
      "! grep -q rich pylock.toml && grep -q six pylock.toml || exit 7\n"
      "printf '' > pylock.toml\n"};
  CHECK(uv.answer(asked).chosen == 0);
}

TEST_CASE("uv gets no variable of the user, and logins only as variables") {
  const FakeUv uv{
      "[ -z \"$SECRET_OF_THE_USER\" ] || exit 7\n"
      "case \"$UV_DEFAULT_INDEX\" in *me:pass%2Fword@*) ;; *) exit 8;; esac\n"
      "case \"$*\" in *pass*) exit 9;; esac\nprintf '' > pylock.toml\n"};
  index::IndexSettings indexes;
  indexes.indexes.push_back(index::Location::parse("https://me:pass%2Fword@index.example/simple"));
  CHECK(uv.answer(question(), indexes).chosen == 0);
}

TEST_CASE("uv asks no network if the environment says so") {
  const FakeUv uv{"[ \"$UV_OFFLINE\" = 1 ] || exit 7\nprintf '' > pylock.toml\n"};
  CHECK_THROWS_AS(uv.answer(question()), Error);
  CHECK(uv.answer_offline(question()).chosen == 0);
}

TEST_CASE("uv's explanation is about the user's files and advises no option of uv") {
  const FakeUv unsolved{
      "echo 'error: No solution found when resolving dependencies' >&2\n"
      "echo '  cause: Because you require a>=2 and there is no a>=2,' >&2\n"
      "echo '      your requirements are unsatisfiable.' >&2\n"
      "echo 'hint: use `--index-strategy`' >&2\necho 'hint: a is old' >&2\nexit 1\n"};
  CHECK(failure(unsolved) ==
        "project: the requirements cannot be resolved\nBecause you require a>=2 and there is no "
        "a>=2, your requirements are unsatisfiable.\nhint: a is old");
  const FakeUv place{"echo \"error: Couldn't parse \\`$2/r.txt\\` at position 3\" >&2\nexit 2\n"};
  CHECK(failure(place) ==
        "project: the requirements cannot be resolved\nCouldn't parse `r.txt` at position 3");
  const FakeUv remote{"echo 'error: Request failed after 3 retries' >&2\nexit 2\n"};
  CHECK(failure(remote).starts_with("remote: an index failed"));
  const FakeUv build{"echo 'error: Failed to build `docopt==0.6.2`' >&2\nexit 1\n"};
  CHECK(failure(build).starts_with("project: `docopt==0.6.2` has to be built"));
  CHECK(failure(FakeUv{"kill -9 $$\n"}).find("status 137") != std::string::npos);
}

TEST_CASE("a program that prints without an end is stopped") {
  CHECK(failure(FakeUv{"exec yes\n"}).find("printed too much") != std::string::npos);
}

TEST_CASE("AUTOPACK_UV must be uv") {
  const auto find = [](const std::string& program) {
    return find_uv(Environment{{{"AUTOPACK_UV", program}}}, nullptr);
  };
  CHECK_THROWS_WITH_AS(find("/bin/true"), "AUTOPACK_UV is `/bin/true`, which is not uv", Error);
  CHECK_THROWS_AS(find("/nowhere"), Error);
  const TemporaryDirectory directory;
  const auto program = directory.path() / "uv";
  write_file(program, "#!/bin/sh\necho uv 0.12.1\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto found = find(program.string());
  REQUIRE(found);
  CHECK(found->version == "0.12.1");
  // PATH counts only for versions that were tried.
  CHECK_FALSE(find_uv(Environment{{{"PATH", directory.path().string()},
                                   {"XDG_CACHE_HOME", directory.path().string()}}},
                      nullptr));
}

}  // namespace autopack::resolve_test
