#include "base/error.hpp"
#include "base/process.hpp"
#include "build/wheels/byte_code.hpp"
#include "build/wheels/wheel_lists.hpp"
#include "services/services.hpp"
#include "support/memory_registry.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"
#include "support/wheel_archive.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace autopack::build_wheel_lists_test {

using namespace autopack::build;
using autopack::testing::MemoryRegistry;
using autopack::testing::RecordingReporter;

namespace {

const Digest executor{sha256("an executor image")};

wheel::Place place() {
  return {.interpreter = {.executable = "/usr/bin/python3",
                          .version = python::Version::parse("3.11.2").value(),
                          .scheme = {.purelib = "/usr/lib/python3",
                                     .platlib = "/usr/lib/python3",
                                     .scripts = "/usr/bin",
                                     .headers = "/usr/include",
                                     .data = "/usr"}}};
}

/// A machine with empty caches, and a registry with facts.
struct Machine {
  Machine() {
    for (const std::string name : {"one", "two", "three"}) {
      const auto path = write_wheel(directory.path(), name,
                                    {{.name = name + "/__init__.py", .content = "NAME = 1\n"}});
      const auto bytes = read_file(path);
      wheels.push_back({.name = name,
                        .digest = sha256(bytes),
                        .size = bytes.size(),
                        .file_name = path.filename().string(),
                        .file = [path = std::filesystem::path{path}] { return path; }});
    }
  }

  void note(std::size_t i, const std::vector<wheel::WheelFile>& files) {
    NewFacts new_facts;
    new_facts.texts[wheel::wheel_files_key(wheels[i], place())] = wheel::to_text(files).value();
    open_repository_facts()->keep(open(), executor, "linux/amd64",
                                  [&](const RememberedFacts&) { return new_facts; });
  }

  std::shared_ptr<registry::Repository> open() {
    return registry::make_repository("127.0.0.1:5000", "team/model", registry::Access::push,
                                     {.client = &registry});
  }

  std::shared_ptr<RepositoryFacts> open_repository_facts() {
    return std::make_shared<RepositoryFacts>([this] { return open(); }, directory.path() / "told",
                                             state::BlobCache{directory.path() / "blobs"},
                                             reporter);
  }

  WheelLists lists() {
    services.repository_facts = open_repository_facts();
    services.repository_facts->read(executor, "linux/amd64");
    return {services, wheels, where, fetch};
  }

  TemporaryDirectory directory;
  MemoryRegistry registry;
  RecordingReporter reporter;
  Cancellation cancellation;
  Services services{
      Environment{{{"HOME", directory.path().string()}}}, reporter, &cancellation, {}};
  std::vector<wheel::ChosenWheel> wheels;
  wheel::Place where{place()};
  std::vector<std::string> fetched;
  FetchWheels fetch{[this](const auto& some) {
    for (const auto& wheel : some) {
      fetched.push_back(wheel.name);
    }
  }};
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a wheel that a repository remembers is not fetched") {
  Machine machine;
  machine.note(0, wheel::read_wheel(machine.wheels[0], place()).files.files);
  machine.note(2, wheel::read_wheel(machine.wheels[2], place()).files.files);
  auto lists = machine.lists();
  CHECK(machine.fetched == Names{"two"});
  CHECK(lists.is_reported());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(lists.all()[i].files == wheel::read_wheel(machine.wheels[i], place()).files.files);
  }
  CHECK(lists.holds_for({0, 1}));
  CHECK(machine.fetched == Names{"two", "one"});
  CHECK(lists.holds_for({2}));
  CHECK_FALSE(lists.is_reported());
  CHECK_FALSE(machine.lists().is_reported());
  CHECK(machine.fetched.size() == 3);
}

TEST_CASE("if the facts about one wheel are wrong, none is trusted") {
  Machine machine;
  machine.note(0, {{.path = "usr/lib/python3/other.py", .packed_size = 1, .content = 2}});
  machine.note(2, {{.path = "usr/lib/python3/another.py", .packed_size = 1, .content = 2}});
  auto lists = machine.lists();
  CHECK(lists.all()[0].files.size() == 1);
  CHECK_FALSE(lists.holds_for({0}));
  CHECK_FALSE(lists.is_reported());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(lists.all()[i].files == wheel::read_wheel(machine.wheels[i], place()).files.files);
  }
}

TEST_CASE("byte code is what Python takes without a look at the source") {
  const TemporaryDirectory directory;
  RecordingReporter reporter;
  const Cancellation cancellation;
  const Services services{
      Environment{{{"PATH", "/usr/local/bin:/usr/bin:/bin"}}}, reporter, &cancellation, {}};
  const auto told =
      run_process({"python3", "-c", "import platform; print(platform.python_version())"}, "");
  REQUIRE(told);
  auto interpreter = place().interpreter;
  interpreter.version = python::Version::parse(told->output).value();
  const auto compiler = find_compiler_here(services, interpreter);
  REQUIRE(compiler);
  const std::vector<SourceModule> sources{{"lib/good.py", "VALUE = 'of the source'\n"},
                                          {"lib/bad.py", "this is no Python\n"},
                                          {"lib/latin.py", "# coding: latin-1\nVALUE = '\xe9'\n"}};
  const auto modules = compile_sources(*compiler, sources);
  REQUIRE(modules.size() == 3);
  CHECK(modules[0].path.starts_with("lib/__pycache__/good.cpython-"));
  CHECK(modules[0].path.ends_with(".pyc"));
  CHECK(modules[0].bytes.value().substr(4, 4) == std::string{"\1\0\0\0", 4});
  CHECK_FALSE(modules[1].bytes);
  CHECK(modules[2].bytes);
  CHECK(compile_sources(*compiler, sources)[0].bytes == modules[0].bytes);

  // The source changes, but Python imports the byte code.
  const auto lib = directory.path() / "lib";
  std::filesystem::create_directories(lib / "__pycache__");
  write_file(lib / "good.py", "VALUE = 'changed'\n");
  write_file(directory.path() / modules[0].path, *modules[0].bytes);
  const auto run = run_process(
      {"python3", "-c",
       "import sys; sys.path.insert(0, sys.argv[1]); import good; print(good.VALUE)", lib.string()},
      "");
  REQUIRE(run);
  CHECK(run->output == "of the source\n");
}

TEST_CASE("a Python of another series makes no byte code") {
  RecordingReporter reporter;
  const Cancellation cancellation;
  const Services services{
      Environment{{{"PATH", "/usr/local/bin:/usr/bin:/bin"}}}, reporter, &cancellation, {}};
  auto interpreter = place().interpreter;
  for (const auto* version : {"3.2.1", "3.99.0", "3.11.0rc1"}) {
    CAPTURE(version);
    interpreter.version = python::Version::parse(version).value();
    CHECK_FALSE(find_compiler_here(services, interpreter));
  }
  interpreter = place().interpreter;
  interpreter.abi_flags = "t";
  CHECK_FALSE(find_compiler_here(services, interpreter));
}

TEST_CASE("a response that is not byte code is refused") {
  for (const std::string& answer :
       {std::string{}, std::string{"short"}, little_endian(3, 8) + "a/b" + little_endian(0, 8),
        little_endian(11, 8) + "cpython-311",
        little_endian(11, 8) + "cpython-311" + little_endian(9, 8),
        little_endian(11, 8) + "cpython-311" + little_endian(0, 8) + "more"}) {
    const ByteCompiler compiler{.run = [&](const std::string&) { return answer; }};
    CHECK_THROWS_AS(compile_sources(compiler, {{"a.py", "x = 1\n"}}), Error);
  }
}

}  // namespace autopack::build_wheel_lists_test
