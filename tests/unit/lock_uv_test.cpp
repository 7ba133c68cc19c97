#include "lock/readers.hpp"
#include "support/locked.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

namespace autopack::lock_uv_test {

using namespace autopack::lock;

namespace {

const std::string registry = "source = { registry = \"https://index.example/simple\" }\n";

std::string wheel(const std::string& name, const std::string& version) {
  return "wheels = [\n    { url = \"https://files.example/" + name + "-" + version +
         "-py3-none-any.whl\", hash = \"" + sha256_of('a') + "\", size = 34 },\n]\n";
}

std::string package(const std::string& name,
                    const std::string& version,
                    const std::string& more = {}) {
  return "\n[[package]]\nname = \"" + name + "\"\nversion = \"" + version + "\"\n" +
         (more.find("source = ") == std::string::npos ? registry : "") + more +
         (more.find("[package.") == std::string::npos ? wheel(name, version) : "");
}

const std::string head = "version = 1\nrevision = 3\nrequires-python = \">=3.10\"\n";

/// Returns the project with its dependencies.
std::string project(const std::string& more) {
  return "\n[[package]]\nname = \"mine\"\nversion = \"0.1.0\"\nsource = { virtual = \".\" }\n" +
         more;
}

struct Asked {
  std::vector<std::string> extras{};
  std::vector<std::string> groups{};
  std::optional<std::string> pyproject{};
};

LockedSet read(const std::string& text, Asked asked = {}) {
  const auto interpreter = debian_python();
  return read_uv_lock(text, "uv.lock",
                      {.interpreter = interpreter,
                       .extras = std::move(asked.extras),
                       .groups = std::move(asked.groups),
                       .pyproject = std::move(asked.pyproject)});
}

}  // namespace

TEST_CASE("uv.lock is walked from the project along the markers that hold") {
  const std::string text =
      head +
      project(
          "dependencies = [\n    { name = \"a\", extra = [\"fast\"] },\n"
          "    { name = \"w\", marker = \"sys_platform == 'win32'\" },\n]\n"
          "[package.optional-dependencies]\ngpu = [{ name = \"cuda\" }]\n"
          "[package.dev-dependencies]\ndev = [{ name = \"pytest\" }]\n"
          "[package.metadata]\nprovides-extras = [\"gpu\", \"none\"]\n") +
      package("a", "1",
              "dependencies = [{ name = \"b\" }]\n" + wheel("a", "1") +
                  "[package.optional-dependencies]\nfast = [{ name = \"c\" }]\n"
                  "slow = [{ name = \"w\" }]\n") +
      package("b", "2", "dependencies = [{ name = \"a\" }]\n") + package("c", "3") +
      package("cuda", "12") + package("pytest", "8") + package("unused", "1") + package("w", "1");
  const auto set = read(text);
  CHECK(summary(set) == "a[fast]==1 b==2 c==3");
  CHECK(set.hashed);
  CHECK(set.is_complete);
  CHECK(set.origin == "uv.lock");
  CHECK(set.warnings.empty());
  const auto& a = set.packages[0];
  CHECK(a.index == "https://index.example/simple");
  REQUIRE(a.files.size() == 1);
  CHECK(a.files[0].url == "https://files.example/a-1-py3-none-any.whl");
  CHECK(a.files[0].size == 34);
  CHECK(a.files[0].hashes[0].str() == sha256_of('a'));
  CHECK(summary(read(text, {.extras = {"gpu"}})) == "a[fast]==1 b==2 c==3 cuda==12");
  CHECK(summary(read(text, {.extras = {"none"}, .groups = {"dev"}})) ==
        "a[fast]==1 b==2 c==3 pytest==8");
  CHECK(refusal([&] { read(text, {.extras = {"gpus"}}); }) == "`uv.lock` has no extra `gpus`");
  CHECK(refusal([&] { read(text, {.groups = {"docs"}}); }) == "`uv.lock` has no group `docs`");
}

TEST_CASE("of the versions of a package uv.lock names the one that is meant") {
  const std::string fork = "resolution-markers = [\"python_full_version < '3.11'\"]\n" +
                           wheel("n", "1") + "[package.metadata]\n";
  const std::string other = "resolution-markers = [\"python_full_version >= '3.11'\"]\n" +
                            wheel("n", "2") + "[package.metadata]\n";
  const std::string forks = package("n", "1", fork) + package("n", "2", other);
  CHECK(summary(read(head +
                     project("dependencies = [\n"
                             "    { name = \"n\", version = \"1\", source = { registry = "
                             "\"https://index.example/simple\" }, marker = \"python_version < "
                             "'3.11'\" },\n"
                             "    { name = \"n\", version = \"2\", source = { registry = "
                             "\"https://index.example/simple\" }, marker = \"python_version >= "
                             "'3.11'\" },\n]\n") +
                     forks)) == "n==2");
  CHECK(summary(read(head + project("dependencies = [{ name = \"n\" }]\n") + forks)) == "n==2");
  CHECK(refusal([&] {
          read(head + project("dependencies = [{ name = \"n\" }]\n") + package("n", "1") +
               package("n", "2"));
        }).find("uv.lock:9: more than one package named `n` matches") != std::string::npos);
  CHECK(refusal([&] {
          read(head + project("dependencies = [{ name = \"n\", version = \"3\" }]\n") + forks);
        }).find("no package named `n` matches") != std::string::npos);
}

TEST_CASE("extras that exclude each other decide in uv.lock") {
  const std::string text =
      head +
      "conflicts = [[\n    { package = \"mine\", extra = \"cpu\" },\n    { package = \"mine\", "
      "extra = \"gpu\" },\n]]\n" +
      project(
          "dependencies = [\n"
          "    { name = \"torch\", version = \"2\", marker = \"extra != 'extra-4-mine-cpu'\" },\n"
          "]\n[package.optional-dependencies]\n"
          "cpu = [{ name = \"torch\", version = \"2+cpu\", marker = \"extra == "
          "'extra-4-mine-cpu'\" }]\ngpu = [{ name = \"cuda\" }]\n"
          "all = [{ name = \"deep\" }]\n") +
      package("torch", "2") + package("torch", "2+cpu") + package("cuda", "12") +
      package("deep", "1", "dependencies = [{ name = \"mine\", extra = [\"cpu\"] }]\n");
  CHECK(summary(read(text)) == "torch==2");
  CHECK(summary(read(text, {.extras = {"cpu"}})) == "torch==2+cpu");
  CHECK(summary(read(text, {.extras = {"gpu"}})) == "cuda==12 torch==2");
  // Reachable only through `deep`, after the project was visited.
  CHECK(summary(read(text, {.extras = {"all"}})) == "deep==1 torch==2+cpu");
  CHECK(refusal([&] {
          read(text, {.extras = {"cpu", "gpu"}});
        }) ==
        "uv.lock:4: the extra `cpu` of `mine` and the extra `gpu` of `mine` exclude each other");
}

TEST_CASE("uv.lock knows more sources than an index") {
  const auto set = read(
      head +
      project("dependencies = [\n    { name = \"d\" },\n    { name = \"e\" },\n    { name = \"f\" "
              "},\n    { name = \"g\" },\n    { name = \"p\" },\n    { name = \"s\" },\n    { name "
              "= \"u\" },\n    { name = \"v\" },\n]\n") +
      package("d", "1", "source = { directory = \"libs/d\" }\n[package.metadata]\n") +
      package("e", "1", "source = { editable = \"libs/e\" }\n[package.metadata]\n") +
      package("f", "1",
              "source = { registry = \"wheels\" }\nwheels = [{ path = \"f-1-py3-none-any.whl\" }]\n"
              "[package.metadata]\n") +
      package("g", "1",
              "source = { git = \"https://host.example/g?rev=v1#" + std::string(40, 'a') +
                  "\" }\n[package.metadata]\n") +
      package("p", "1",
              "source = { path = \"vendor/p-1-py3-none-any.whl\" }\nwheels = [{ filename = "
              "\"p-1-py3-none-any.whl\", hash = \"" +
                  sha256_of('b') +
                  "\" }]\n"
                  "[package.metadata]\n") +
      package("s", "1",
              registry + R"(sdist = { url = "https://files.example/s-1.tar.gz", hash = ")" +
                  sha256_of('b') + "\" }\n[package.metadata]\n") +
      package(
          "u", "1",
          "source = { url = \"https://files.example/u-1-py3-none-any.whl\" }\nwheels = [{ url = "
          "\"https://files.example/u-1-py3-none-any.whl\", hash = \"" +
              sha256_of('c') + "\" }]\n[package.metadata]\n") +
      package("v", "1", "source = { virtual = \"libs/v\" }\n[package.metadata]\n"));
  CHECK(summary(set) == "d e f==1 g==1 p==1 s==1 u==1");
  CHECK(set.packages[0].source == LockedSource{.directory = "libs/d"});
  CHECK(set.packages[1].source == LockedSource{.directory = "libs/e"});
  CHECK(set.packages[2].files[0].path == "wheels/f-1-py3-none-any.whl");
  CHECK_FALSE(set.packages[2].index);
  CHECK(set.packages[3].source == LockedSource{.repository = "https://host.example/g",
                                               .commit = std::string(40, 'a'),
                                               .revision = "v1"});
  CHECK(set.packages[4].files[0].path == "vendor/p-1-py3-none-any.whl");
  CHECK_FALSE(set.packages[5].obstacle);
  CHECK(set.packages[4].is_direct);
  CHECK_FALSE(set.packages[5].is_direct);
  CHECK(set.packages[6].files[0].url == "https://files.example/u-1-py3-none-any.whl");
  CHECK_FALSE(set.hashed);
}

TEST_CASE("a workspace without a project has what its members and its manifest need") {
  const std::string members =
      "\n[manifest]\nmembers = [\"one\", \"two\"]\n[manifest.dependency-groups]\ndev = [{ name = "
      "\"ruff\" }]\n" +
      package("one", "1",
              "source = { editable = \"one\" }\ndependencies = [{ name = \"two\" }]\n"
              "[package.metadata]\n") +
      package("two", "1",
              "source = { editable = \"two\" }\ndependencies = [{ name = \"x\" }]\n"
              "[package.metadata]\n") +
      package("x", "1") + package("ruff", "1");
  CHECK(summary(read(head + members)) == "two x==1");
  CHECK(summary(read(head + members, {.groups = {"dev"}})) == "ruff==1 two x==1");
  CHECK(summary(read(head +
                     "\n[manifest]\nrequirements = [{ name = \"x\", specifier = \">=1\", "
                     "extras = [\"y\"] }]\n" +
                     package("x", "1"))) == "x[y]==1");
}

TEST_CASE("a uv.lock that is older than pyproject.toml is reported") {
  const std::string text =
      head +
      project(
          "dependencies = [{ name = \"a\" }]\n[package.metadata]\nrequires-dist = [\n    { name "
          "= \"a\", specifier = \">=1,<2\" },\n    { name = \"b\", marker = \"extra == 'gpu'\" "
          "},\n    { name = \"c\", git = \"https://host.example/c\" },\n]\nprovides-extras = "
          "[\"gpu\"]\n") +
      package("a", "1");
  const auto warnings = [&](const std::string& dependencies) {
    const auto set =
        read(text, {.pyproject = "[project]\nname = 'mine'\ndependencies = [" + dependencies +
                                 "]\n[project.optional-dependencies]\ngpu = ['b']\n"});
    return set.warnings.empty() ? std::string{} : set.warnings[0].message;
  };
  CHECK(warnings("'a <2.0, >= 1', 'c'") ==
        "`uv.lock` is older than `pyproject.toml`, which asks for `a<2.0,>=1`");
  CHECK(warnings("'a<2,>=1; python_version > \"3\"', 'c'").empty());
  CHECK(warnings("'a<2,>=1', 'c', 'd'").find("asks for `d`") != std::string::npos);
  CHECK(warnings("'c'").find("no longer asks for `a<2,>=1`") != std::string::npos);
}

TEST_CASE("a uv.lock that is not for the image, or wrong, is refused with the place") {
  struct Case {
    std::string text;
    std::string words;
  };

  for (const auto& [text, words] : std::vector<Case>{
           {"", "`uv.lock` has no version: it is not uv's"},
           {"version = 2", "`uv.lock` has version 2, but autopack reads 1"},
           {"version = 1\nrequires-python = '>=3.12'", "is for Python `>=3.12`"},
           {head + "supported-markers = [\"sys_platform == 'darwin'\"]", "`supported-markers`"},
           {head, "`uv.lock` has no package for the project"},
           {head + project("dependencies = [{ name = 'a' }]\n"), "no package named `a` matches"},
           {head + project("dependencies = [{ }]\n"), "uv.lock:9: `name` is missing"},
           {head + project("dependencies = [{ name = 'a' }]\n") + "[[package]]\nname = 'a'\n",
            "`a` has no source"},
           {head + project("dependencies = [{ name = 'a', marker = '(' }]\n"),
            "`(` is not a marker"},
           {head + project("dependencies = [{ name = 'a' }]\n") +
                package("a", "1",
                        "source = { registry = 'r' }\nwheels = [{ url = "
                        "'https://f.example/a-1-py3-none-any.whl', hash = 'md5:0' }]\n"
                        "[package.metadata]\n"),
            "`md5:0` is not a hash"},
       }) {
    const auto told = refusal([&text = text] { read(text); });
    CHECK_MESSAGE(told.find(words) != std::string::npos, told);
  }
}

}  // namespace autopack::lock_uv_test
