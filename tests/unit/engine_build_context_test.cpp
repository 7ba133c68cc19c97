#include "base/error.hpp"
#include "engine/build_context.hpp"
#include "support/memory_plan.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace autopack;
using engine::BytePipe;

namespace {

std::string context_of(const engine::BuildRequest& request) {
  std::string bytes;
  engine::write_context(request, [&](std::string_view piece) { bytes += piece; });
  return bytes;
}

std::string read_all(BytePipe& pipe) {
  std::string text;
  std::array<char, 1000> buffer{};
  for (std::size_t count = pipe.read(buffer.data(), buffer.size()); count > 0;
       count = pipe.read(buffer.data(), buffer.size())) {
    text.append(buffer.data(), count);
  }
  return text;
}

}  // namespace

TEST_CASE("a context is the same bytes whatever the files' times, and has no other file") {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("a/b/c.py", "code").file("secret.key", "hunter2");
  auto plan = plan_of(tree, {"a/b/c.py"});
  engine::BuildRequest request{.plan = &plan};
  request.root = "tree";
  request.dockerfile = "FROM x\n";
  const std::string bytes = context_of(request);
  for (const char* name :
       {"tree/a/b/c.py", "tree/a/b/", "tree/a/", "tree/", ".autopack/Dockerfile", ".autopack/"}) {
    CHECK(bytes.find(std::string{name} + '\0') != std::string::npos);
  }
  CHECK(bytes.find("secret") == std::string::npos);
  request.file_time = 1'700'000'000;
  CHECK(context_of(request) != bytes);
}

TEST_CASE("the user's Dockerfile is used where it stands, when it is what is built") {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("docker/Own", "FROM x\n");
  auto plan = plan_of(tree, {"docker/Own"});
  plan.user_dockerfile = "docker/Own";
  engine::BuildRequest request{.plan = &plan};
  request.dockerfile = "FROM x\n";
  CHECK(engine::dockerfile_path(request) == "docker/Own");
  CHECK(context_of(request).find(".autopack") == std::string::npos);
  request.dockerfile = "FROM y\n";
  CHECK(engine::dockerfile_path(request) == ".autopack/Dockerfile");
  plan.code.clear();
  request.dockerfile = "FROM x\n";
  CHECK(engine::dockerfile_path(request) == ".autopack/Dockerfile");
}

TEST_CASE("a project's own file in the place of the Dockerfile is not what is built") {
  for (const std::string taken : {".autopack/Dockerfile", ".autopack"}) {
    const auto tree = std::make_shared<source::MemoryTree>();
    tree->file(taken, "FROM theirs\n").file(".autopack.2.Dockerfile", "");
    auto plan = plan_of(tree, {taken, ".autopack.2.Dockerfile"});
    plan.user_dockerfile = "../Dockerfile";
    engine::BuildRequest request{.plan = &plan};
    request.dockerfile = "FROM ours\n";
    CHECK(engine::dockerfile_path(request) == ".autopack.3.Dockerfile");
    CHECK(context_of(request).find("FROM ours") != std::string::npos);
  }
}

TEST_CASE("a file that is not what the plan saw ends the context") {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("a.py", "one");
  auto plan = plan_of(tree, {"a.py"});
  plan.code.at(0).content = sha256("one");
  const engine::BuildRequest request{.plan = &plan};
  CHECK_NOTHROW(context_of(request));
  tree->file("a.py", "two");
  CHECK_THROWS_WITH_AS(context_of(request), "`a.py` changed while it was read", Error);
}

TEST_CASE("bytes come out of a pipe as they went in") {
  std::string expected;
  for (int i = 0; expected.size() < 3'000'000; ++i) {
    expected += std::to_string(i) + " ";
  }
  BytePipe pipe{[&](const auto& out) {
    for (std::size_t at = 0; at < expected.size(); at += 70'001) {
      out(std::string_view{expected}.substr(at, 70'001));
    }
  }};
  CHECK(read_all(pipe) == expected);
  CHECK(pipe.count() == expected.size());
}

TEST_CASE("what the writer throws reaches the reader, after the bytes before it") {
  BytePipe pipe{[](const auto& out) {
    out("some");
    throw Error(ErrorKind::project, "`a` changed while it was read");
  }};
  std::array<char, 100> buffer{};
  std::string text;
  CHECK_THROWS_WITH_AS(
      [&] {
        for (;;) {
          text.append(buffer.data(), pipe.read(buffer.data(), buffer.size()));
        }
      }(),
      "`a` changed while it was read", Error);
  CHECK(text == "some");
}

TEST_CASE("a pipe that nobody reads on ends its writer") {
  bool finished = false;
  {
    BytePipe pipe{[&](const auto& out) {
      const std::string piece(100'000, 'x');
      for (int i = 0; i < 1000; ++i) {
        out(piece);
      }
      finished = true;
    }};
    std::array<char, 10> buffer{};
    CHECK(pipe.read(buffer.data(), buffer.size()) == 10);
  }
  CHECK_FALSE(finished);
}
