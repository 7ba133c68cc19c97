#include "build/docker/build_context.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "support/memory_plan.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace autopack::build_context_test {

namespace {

std::string context_of(const build::ContextParts& parts) {
  std::string bytes;
  build::PlannedContext{parts}.write([&](std::string_view piece) { bytes += piece; });
  return bytes;
}

}  // namespace

TEST_CASE("a context needs no plan, and takes files of this machine") {
  const TemporaryDirectory directory;
  write_file(directory.path() / "x.tar.gz", "packed");
  build::ContextParts parts{.dockerfile = "FROM x\n"};
  parts.copies = {{.path = "source/x.tar.gz", .file = directory.path() / "x.tar.gz"}};
  const std::string bytes = context_of(parts);
  for (const char* name : {"source/", "source/x.tar.gz", ".autopack/Dockerfile"}) {
    CHECK(bytes.find(std::string{name} + '\0') != std::string::npos);
  }
  CHECK(bytes.find("packed") != std::string::npos);
}

TEST_CASE("a context is the same bytes whatever the files' times, and has no other file") {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("a/b/c.py", "code").file("secret.key", "hunter2");
  auto plan = plan_of(tree, {"a/b/c.py"});
  build::ContextParts parts{.plan = &plan};
  parts.root = "tree";
  parts.dockerfile = "FROM x\n";
  const std::string bytes = context_of(parts);
  for (const char* name :
       {"tree/a/b/c.py", "tree/a/b/", "tree/a/", "tree/", ".autopack/Dockerfile", ".autopack/"}) {
    CHECK(bytes.find(std::string{name} + '\0') != std::string::npos);
  }
  CHECK(bytes.find("secret") == std::string::npos);
  parts.file_time = 1'700'000'000;
  CHECK(context_of(parts) != bytes);
}

TEST_CASE("the user's Dockerfile is used at its own path if it is built unchanged") {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("docker/Own", "FROM x\n");
  auto plan = plan_of(tree, {"docker/Own"});
  plan.user_dockerfile = "docker/Own";
  build::ContextParts parts{.plan = &plan};
  parts.dockerfile = "FROM x\n";
  CHECK(build::PlannedContext{parts}.dockerfile_path() == "docker/Own");
  CHECK(context_of(parts).find(".autopack") == std::string::npos);
  parts.dockerfile = "FROM y\n";
  CHECK(build::PlannedContext{parts}.dockerfile_path() == ".autopack/Dockerfile");
  plan.code.clear();
  parts.dockerfile = "FROM x\n";
  CHECK(build::PlannedContext{parts}.dockerfile_path() == ".autopack/Dockerfile");
}

TEST_CASE("a project's own file in the place of the Dockerfile is not what is built") {
  for (const std::string taken : {".autopack/Dockerfile", ".autopack"}) {
    const auto tree = std::make_shared<source::MemoryTree>();
    tree->file(taken, "FROM theirs\n").file(".autopack.2.Dockerfile", "");
    auto plan = plan_of(tree, {taken, ".autopack.2.Dockerfile"});
    plan.user_dockerfile = "../Dockerfile";
    build::ContextParts parts{.plan = &plan};
    parts.dockerfile = "FROM ours\n";
    CHECK(build::PlannedContext{parts}.dockerfile_path() == ".autopack.3.Dockerfile");
    CHECK(context_of(parts).find("FROM ours") != std::string::npos);
  }
}

TEST_CASE("a file that is not what the plan saw ends the context") {
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("a.py", "one");
  auto plan = plan_of(tree, {"a.py"});
  plan.code.at(0).content = sha256("one");
  const build::ContextParts parts{.plan = &plan};
  CHECK_NOTHROW(context_of(parts));
  tree->file("a.py", "two");
  CHECK_THROWS_WITH_AS(context_of(parts), "`a.py` changed while it was read", Error);
}

}  // namespace autopack::build_context_test
