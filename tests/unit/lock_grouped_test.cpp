#include "lock/readers.hpp"
#include "support/locked.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace autopack::lock_grouped_test {

using namespace autopack::lock;

namespace {

struct Asked {
  std::vector<std::string> extras{};
  std::vector<std::string> groups{};
  std::optional<std::string> pyproject{};
};

using Reader = LockedSet (*)(std::string_view text, const std::string& file, const Target& target);

LockedSet read(Reader reader, const std::string& file, const std::string& text, Asked asked = {}) {
  const auto interpreter = debian_python();
  return reader(text, file,
                {.interpreter = interpreter,
                 .extras = std::move(asked.extras),
                 .groups = std::move(asked.groups),
                 .pyproject = std::move(asked.pyproject)});
}

LockedSet poetry(const std::string& text, Asked asked = {}) {
  return read(read_poetry_lock, "poetry.lock", text, std::move(asked));
}

LockedSet pdm(const std::string& text, Asked asked = {}) {
  return read(read_pdm_lock, "pdm.lock", text, std::move(asked));
}

LockedSet pipfile(const std::string& text, Asked asked = {}) {
  return read(read_pipfile_lock, "Pipfile.lock", text, std::move(asked));
}

std::string package(const std::string& name, const std::string& version, const std::string& more) {
  return "[[package]]\nname = \"" + name + "\"\nversion = \"" + version + "\"\n" + more;
}

std::string file(const std::string& name, const std::string& version) {
  return "files = [\n    {file = \"" + name + "-" + version + "-py3-none-any.whl\", hash = \"" +
         sha256_of('a') + "\"},\n    {file = \"" + name + "-" + version + ".tar.gz\", hash = \"" +
         sha256_of('b') + "\"},\n]\n";
}

const std::string poetry_end =
    "[extras]\ngpu = [\"cuda\"]\n[metadata]\nlock-version = \"2.1\"\npython-versions = \"^3.9\"\n";

const std::string pdm_start =
    "[metadata]\ngroups = [\"default\", \"test\", \"gpu\"]\nstrategy = [\"inherit_metadata\"]\n"
    "lock_version = \"4.5.0\"\n[[metadata.targets]]\nrequires_python = \">=3.9\"\n";

}  // namespace

TEST_CASE("poetry.lock 2.1 says which packages are taken") {
  const std::string text =
      package("a", "1.0", "groups = [\"main\"]\n" + file("a", "1.0")) +
      package("b", "1.0", "groups = [\"main\", \"dev\"]\nmarkers = \"os_name == 'nt'\"\n") +
      package("c", "1.0",
              "groups = [\"main\", \"dev\"]\n" + file("c", "1.0") +
                  "[package.markers]\nmain = \"sys_platform == 'win32'\"\ndev = \"os_name == "
                  "'posix'\"\n") +
      package("cuda", "12",
              "groups = [\"main\"]\nmarkers = \"extra == 'gpu'\"\n" + file("cuda", "12")) +
      package("t", "1.0", "groups = [\"Test_all\"]\n" + file("t", "1.0")) + poetry_end;
  const auto set = poetry(text);
  CHECK(summary(set) == "a==1.0");
  CHECK(set.hashed);
  CHECK(set.is_complete);
  REQUIRE(set.packages[0].files.size() == 2);
  CHECK(set.packages[0].files[0].name == "a-1.0-py3-none-any.whl");
  CHECK_FALSE(set.packages[0].files[0].url);
  CHECK_FALSE(set.packages[0].index);
  CHECK(summary(poetry(text, {.extras = {"gpu"}, .groups = {"dev", "test-all"}})) ==
        "a==1.0 c==1.0 cuda==12 t==1.0");
  CHECK(poetry(text, {.groups = {"docs"}}).warnings[0].message ==
        "no package of `poetry.lock` is in the group `docs`");
  CHECK(refusal([&] { poetry(text, {.extras = {"cpu"}}); }) == "`poetry.lock` has no extra `cpu`");
}

TEST_CASE("poetry.lock knows more sources than an index") {
  const std::string commit(40, 'd');
  const auto from = [](const std::string& name, const std::string& source) {
    return package(name, "1",
                   "groups = [\"main\"]\n" + file(name, "1") + "[package.source]\n" + source);
  };
  const auto set =
      poetry(from("a", "type = \"legacy\"\nurl = \"https://me:word@index.example/simple\"\n") +
             from("b", "type = \"url\"\nurl = \"https://files.example/b-1-py3-none-any.whl\"\n") +
             from("c", "type = \"file\"\nurl = \"wheels/c-1-py3-none-any.whl\"\n") +
             from("d",
                  "type = \"git\"\nurl = \"https://host.example/d\"\nreference = "
                  "\"main\"\nresolved_reference = \"" +
                      commit + "\"\n") +
             from("e", "type = \"directory\"\nurl = \"../e\"\n") + poetry_end);
  CHECK(set.packages[0].index == "https://index.example/simple");
  CHECK(set.packages[1].files[0].url == "https://files.example/b-1-py3-none-any.whl");
  CHECK(set.packages[2].files[0].path == "wheels/c-1-py3-none-any.whl");
  CHECK(set.packages[2].is_direct);
  CHECK(set.packages[3].source ==
        LockedSource{.repository = "https://host.example/d", .commit = commit, .revision = "main"});
  CHECK(set.packages[4].obstacle == "its directory is the project's own, or outside it");
}

TEST_CASE("a poetry.lock that leaves the choice to Poetry is refused") {
  const auto of = [](const std::string& metadata) {
    return refusal([&] { poetry("[metadata]\n" + metadata); });
  };
  CHECK(of("lock-version = \"2.0\"\n") ==
        "poetry.lock:1: `poetry.lock` has lock-version 2.0, which leaves groups and markers to "
        "Poetry");
  CHECK(of("").find("lock-version 1.0") != std::string::npos);
  CHECK(of("lock-version = \"3.0\"\n").find("autopack reads 2") != std::string::npos);
  CHECK(of("lock-version = \"x\"\n").find("`x` is not the version of a lock") != std::string::npos);
  CHECK(of("lock-version = \"2.1\"\npython-versions = \"~3.12\"\n").find("for Python `~3.12`") !=
        std::string::npos);
  CHECK(of("lock-version = \"2.2\"\n").empty());
  CHECK(refusal([&] { poetry("a = 1\n"); }).find("has no `[metadata]`") != std::string::npos);
}

TEST_CASE("a lock that lacks requirements of pyproject.toml is reported") {
  const auto warning = [](const std::string& pyproject) {
    const auto set =
        poetry(package("a", "1.0", "groups = [\"main\"]\n" + file("a", "1.0")) + poetry_end,
               {.pyproject = pyproject});
    return set.warnings.empty() ? std::string{} : set.warnings[0].message;
  };
  CHECK(warning("[project]\nname = 'mine'\ndependencies = ['a>=1', 'w; os_name == \"nt\"']\n")
            .empty());
  CHECK(warning("[tool.poetry.dependencies]\npython = '^3.9'\nA = '^1'\n").empty());
  CHECK(warning("[project]\nname = 'mine'\ndependencies = ['a>=1', 'New_one']\n") ==
        "`poetry.lock` is older than `pyproject.toml`, which asks for `new-one`");
  CHECK(warning("[tool.poetry.dependencies]\nnew = '^1'\n").find("asks for `new`") !=
        std::string::npos);
}

TEST_CASE("pdm.lock says which packages are taken") {
  const std::string text =
      pdm_start +
      package("a", "1.0",
              "groups = [\"default\"]\nfiles = [{url = "
              "\"https://files.example/a-1.0-py3-none-any.whl#sha256=00\", hash = \"" +
                  sha256_of('a') + "\"}]\n") +
      package("a", "1.0",
              "groups = [\"default\"]\nextras = [\"Fast\"]\nfiles = [{url = "
              "\"https://files.example/a-1.0-py3-none-any.whl\", hash = \"" +
                  sha256_of('a') + "\"}]\n") +
      package("c", "1", "groups = [\"default\"]\nmarker = \"os_name == 'nt'\"\n") +
      package("cuda", "12", "groups = [\"gpu\"]\n" + file("cuda", "12")) +
      package("g", "1",
              "groups = [\"default\"]\ngit = \"https://host.example/g\"\nref = "
              "\"main\"\nrevision = \"" +
                  std::string(40, 'e') + "\"\n") +
      package("t", "1", "groups = [\"test\"]\n" + file("t", "1"));
  const auto set = pdm(text);
  CHECK(summary(set) == "a[fast]==1.0 g==1");
  CHECK(set.packages[0].files[0].url == "https://files.example/a-1.0-py3-none-any.whl");
  CHECK(set.packages[1].source == LockedSource{.repository = "https://host.example/g",
                                               .commit = std::string(40, 'e'),
                                               .revision = "main"});
  CHECK(summary(pdm(text, {.extras = {"gpu"}, .groups = {"test"}})) ==
        "a[fast]==1.0 cuda==12 g==1 t==1");
  CHECK(refusal([&] { pdm(text, {.groups = {"tests"}}); }) == "`pdm.lock` has no group `tests`");
}

TEST_CASE("a pdm.lock that leaves the choice to PDM, or is for others, is refused") {
  struct Case {
    std::string metadata;
    std::string words;
  };

  const std::string good = "strategy = [\"inherit_metadata\"]\nlock_version = \"4.5\"\n";
  for (const auto& [metadata, words] : std::vector<Case>{
           {"strategy = []\nlock_version = \"4.5\"\n", "no strategy `inherit_metadata`"},
           {"strategy = [\"inherit_metadata\"]\nlock_version = \"5.0\"\n", "autopack reads 4"},
           {good + "[[metadata.targets]]\nrequires_python = \">=3.12\"\n", "no target has Python"},
           {good + "[[metadata.targets]]\nplatform = \"macos_14_0_arm64\"\n", "on Linux x86_64"},
           {good + "[[metadata.targets]]\nplatform = \"manylinux_2_17_aarch64\"\n", "no target"},
           {good + "[[metadata.targets]]\nimplementation = \"pypy\"\n", "no target has"},
           {good + "[[package]]\nname = \"a\"\ngroups = [\"default\"]\nfiles = [{file = \"a\"}]\n",
            "pdm.lock:7: `hash` is missing"},
       }) {
    const auto told = refusal([&metadata = metadata] { pdm("[metadata]\n" + metadata); });
    CHECK_MESSAGE(told.find(words) != std::string::npos, told);
  }
  for (const auto* const platform : {"linux", "manylinux_2_17_x86_64", "musllinux_1_2_x86_64"}) {
    CHECK(refusal([&] {
            pdm("[metadata]\n" + good + "[[metadata.targets]]\nplatform = \"" + platform + "\"\n");
          }).empty());
  }
}

TEST_CASE("Pipfile.lock says which packages are taken") {
  const std::string hashes =
      R"("hashes": [")" + sha256_of('a') + R"(", ")" + sha256_of('b') + R"("])";
  const std::string text =
      R"({"_meta": {"pipfile-spec": 6, "requires": {"python_version": "3.11"}, "sources": [
        {"name": "main", "url": "https://me:word@index.example/simple", "verify_ssl": true},
        {"name": "own", "url": "https://${TOKEN}@index.example/simple"}]},
      "default": {
        "A.b": {"version": "==1.0", "index": "main", "extras": ["X_y"], )" +
      hashes + R"(},
        "c": {"version": "==2", "index": "own", "markers": "python_version >= '3'", )" +
      hashes +
      R"(},
        "g": {"git": "https://host.example/g", "ref": "0f"},
        "l": {"editable": true, "path": "./lib"},
        "mine": {"editable": true, "path": "."},
        "w": {"file": "https://files.example/w-1-py3-none-any.whl", )" +
      hashes + R"(},
        "win": {"version": "==1", "markers": "os_name == 'nt'"}},
      "develop": {"c": {"version": "==2", )" +
      hashes + R"(}, "t": {"version": "==3", )" + hashes +
      R"(}},
      "docs": {}})";
  const auto set = pipfile(text);
  CHECK(summary(set) == "a-b[x-y]==1.0 c==2 g l w");
  CHECK(set.hashed);
  CHECK(set.warnings.empty());
  CHECK(set.packages[0].place == "Pipfile.lock: default.A.b");
  CHECK(set.packages[0].index == "https://index.example/simple");
  CHECK(set.packages[0].hashes.size() == 2);
  CHECK_FALSE(set.packages[1].index);
  CHECK(pipfile(text, {.groups = {"dev"}}).packages[4].index == "https://index.example/simple");
  CHECK(set.packages[2].obstacle ==
        "it comes from version control, but `0f` is not a full commit hash");
  CHECK(set.packages[3].source == LockedSource{.directory = "lib"});
  CHECK(set.packages[4].files[0].url == "https://files.example/w-1-py3-none-any.whl");
  CHECK(summary(pipfile(text, {.groups = {"dev", "docs"}})) == "a-b[x-y]==1.0 c==2 g l t==3 w");
  CHECK(refusal([&] { pipfile(text, {.groups = {"tests"}}); }) ==
        "`Pipfile.lock` has no group `tests`");
}

TEST_CASE("a package that Pipenv locked where its markers do not hold has its own remedy") {
  const auto remedy = [](const std::string& entry) {
    try {
      pipfile(R"({"_meta": {"pipfile-spec": 6}, "default": {"a": )" + entry + "}}");
    } catch (const Error& error) {
      return error.problems().at(0).hints.at(0);
    }
    return std::string{};
  };
  CHECK(remedy(R"({"version": "*", "markers": "platform_machine == 'x86_64'"})")
            .ends_with("run `pipenv lock` there"));
  CHECK(remedy(R"({"version": "*"})") == "pipenv lock");
}

TEST_CASE("a Pipfile.lock that is not one is refused") {
  struct Case {
    std::string text;
    std::string words;
  };

  const std::string meta = R"({"_meta": {"pipfile-spec": 6}, )";
  for (const auto& [text, words] : std::vector<Case>{
           {"[]", "is not a JSON object"},
           {"{}", "has no `_meta`"},
           {R"({"_meta": {"pipfile-spec": 5}})", "not have the format 6"},
           {R"({"_meta": {"pipfile-spec": 6}})", "has no packages `default`"},
           {meta + R"("default": {"a": 1}})", "Pipfile.lock: default.a: it is not an object"},
           {meta + R"("default": {"a": {"version": "*"}}})", "`a` is not pinned by `==`"},
           {meta + R"("default": {"a": {"version": "==x"}}})", "`x` of `a` is not a version"},
           {meta + R"("default": {"a": {"version": "==1", "hashes": ["x"]}}})", "not a hash"},
           {meta + R"("default": {"a": {"version": "==1", "hashes": [1]}}})", "array of strings"},
           {meta + R"("default": {"a": {"version": 1}}})", "`version` is not a string"},
           {meta + R"("default": {"a/b": {"version": "==1"}}})", "not the name of a package"},
       }) {
    const auto told = refusal([&text = text] { pipfile(text); });
    CHECK_MESSAGE(told.find(words) != std::string::npos, told);
  }
  CHECK(pipfile(R"({"_meta": {"pipfile-spec": 6, "requires": {"python_version": "3.8"}},
                   "default": {}})")
            .warnings[0]
            .message ==
        "`Pipfile.lock` was made for Python 3.8, but the executor image has 3.11.2");
}

}  // namespace autopack::lock_grouped_test
