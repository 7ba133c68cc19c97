#include "base/file.hpp"
#include "base/text.hpp"
#include "build/docker/build_error.hpp"
#include "engine/transfer.hpp"
#include "support/memory_tree.hpp"
#include "support/recording_reporter.hpp"
#include "test_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

namespace autopack::engine_errors_test {

using build::build_error;
using engine::BuildFailure;

namespace {

constexpr std::string_view dockerfile = "FROM base:1 AS deps\nRUN pip install x\nCOPY a b\n";

std::string whole(const Error& error) {
  return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

Error error_of(const BuildFailure& failure) {
  build::ContextParts parts;
  parts.dockerfile = dockerfile;
  return build_error(failure, parts);
}

}  // namespace

TEST_CASE("a failed step is reported with its line, its reason and its last output") {
  std::string log;
  for (int i = 1; i <= 30; ++i) {
    log += "line " + std::to_string(i) + "\n";
  }
  const Error error = error_of({.message = "executor failed running [/bin/sh -c x]: exit code: 3",
                                .step = "[deps 2/2] RUN pip install x",
                                .last_log = log});
  CHECK(error.kind() == ErrorKind::project);
  CHECK(error.message() == "the image build failed at `[deps 2/2] RUN pip install x`");
  REQUIRE(error.causes().size() == 3);
  CHECK(error.causes()[0] == "line 2 of the generated Dockerfile");
  CHECK(error.causes()[1] == "it exited with status 3");
  CHECK(error.causes()[2].find("| line 30") != std::string::npos);
  CHECK(error.causes()[2].find("| line 11\n") != std::string::npos);
  CHECK(error.causes()[2].find("| line 10\n") == std::string::npos);
}

TEST_CASE("known failures determine who can fix them") {
  struct Row {
    const char* message;
    const char* step;
    const char* log;
    ErrorKind kind;
    const char* says;
  };

  const std::string failed = "executor failed running [/bin/sh -c x]: exit code: 1";
  const char* const step = "[deps 2/2] RUN pip install x";
  const std::vector<Row> rows{
      {"write /x: no space left on device", step, "", ErrorKind::environment, "docker system df"},
      {"max depth exceeded", step, "", ErrorKind::project, "into one layer"},
      {failed.c_str(), step, "OSError: [Errno 28] No space left on device", ErrorKind::environment,
       "docker system df"},
      {"executor failed running [/bin/sh -c x]: exit code: 137", step, "", ErrorKind::environment,
       "memory"},
      {"failed to solve: dockerfile parse error line 2: unknown instruction: BOGUS", "", "",
       ErrorKind::project, "the generated Dockerfile line 2 is not valid"},
      {R"(building at STEP "BOGUS ": Build error: Unknown instruction: "BOGUS")", "", "",
       ErrorKind::project, "is not valid"},
      {"failed to create LLB definition: registry.example/no/such:1: not found", "", "",
       ErrorKind::remote, "base image"},
      {R"(failed to do request: Head "http://x/v2/": dial tcp: connect: connection refused)",
       "[internal] load metadata for x/base:1", "", ErrorKind::remote, "base image"},
      {"manifest for x not found: manifest unknown", "Step 1/2 : FROM base:1", "",
       ErrorKind::remote, "base image"},
      {failed.c_str(), step,
       "WARNING: Retrying after connection broken by 'NewConnectionError('<x>: Failed to establish "
       "a new connection: [Errno 111] Connection refused')'",
       ErrorKind::environment, "--build-network host"},
      {failed.c_str(), step, "Temporary failure in name resolution", ErrorKind::environment,
       "--build-network host"},
      {failed.c_str(), step, "E: Unable to locate package nosuch", ErrorKind::project,
       "system-packages"},
      {failed.c_str(), step, "exec /bin/sh: exec format error", ErrorKind::environment, "platform"},
      {failed.c_str(), step, "file not found", ErrorKind::project, "exited with status 1"},
      {"copy: \"/a\": not found", "[deps 3/3] COPY a b", "", ErrorKind::project, "line 3"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.message);
    CAPTURE(row.log);
    const Error error = error_of({.message = row.message, .step = row.step, .last_log = row.log});
    CHECK(error.kind() == row.kind);
    CHECK(whole(error).find(row.says) != std::string::npos);
  }
}

TEST_CASE("pip's complaint leads to the requirement's file and line") {
  plan::ReadablePlan plan;
  const auto tree = std::make_shared<source::MemoryTree>();
  tree->file("reqs/base.txt", "# comment\nnumpy\nNo_Such.Thing[extra]>=1 ; python_version>'3'\n");
  plan.trees.push_back({.tree = tree});
  plan.dependencies.inputs.push_back({.path = "reqs/base.txt"});
  plan.dependencies.requirements = {"given==2"};
  build::ContextParts parts;
  parts.plan = &plan;
  parts.dockerfile = dockerfile;
  const auto told = [&](const std::string& log) {
    return whole(build_error(
        {.message = "exit code: 1", .step = "[deps 2/2] RUN pip install x", .last_log = log},
        parts));
  };
  CHECK(
      told("ERROR: Could not find a version that satisfies the requirement no-such-thing>=1 "
           "(from versions: none)\nERROR: No matching distribution found for no-such-thing>=1\n")
          .find(
              "pip finds no version of `no-such-thing>=1`, asked for in `reqs/base.txt` line 3") !=
      std::string::npos);
  CHECK(told("ERROR: Could not find a version that satisfies the requirement given==2 (from "
             "versions: 1)\n")
            .find("of `given==2`, asked for in `requirements`") != std::string::npos);
  CHECK(told("ERROR: No matching distribution found for inner\n").find("of `inner`\n") !=
        std::string::npos);
}

TEST_CASE("a version that is too old for the base's Python is answered with what there is") {
  plan::ReadablePlan plan;
  plan.base.python_version = "3.11.2";
  build::ContextParts parts;
  parts.plan = &plan;
  parts.dockerfile = dockerfile;
  const auto told = [&](const std::string& wanted) {
    return whole(build_error(
        {.message = "exit code: 1",
         .step = "[deps 2/2] RUN pip install x",
         .last_log = "ERROR: Could not find a version that satisfies the requirement " + wanted +
                     " (from versions: 1.13.0, 2.0.0)\nERROR: No matching distribution found for " +
                     wanted + "\n"},
        parts));
  };
  const std::string hint = "for Python 3.11.2 the index has 1.13.0 and newer only";
  CHECK(told("torch==1.11.0").find(hint) != std::string::npos);
  CHECK(told("torch==1.9").find(hint) != std::string::npos);
  CHECK(told("torch==1.14").find(hint) == std::string::npos);
  CHECK(told("torch>=3").find(hint) == std::string::npos);
}

TEST_CASE("a build that imports what its isolation hides is answered with the way out") {
  const auto error_for = [](const std::string& beginning) {
    return error_of({.message = "exit code: 1",
                     .step = "[deps 2/2] RUN pip install x",
                     .last_log = beginning + "  error: subprocess-exited-with-error\n"
                                             "      ModuleNotFoundError: No module named 'torch'\n"
                                             "      [end of output]\n"});
  };
  const auto error = error_for("Collecting numpy==1\nProcessing ./flash_attn-2.6.0.tar.gz\n");
  CHECK(error.message() == "pip cannot build `./flash_attn-2.6.0.tar.gz`");
  REQUIRE(error.hints().size() == 1);
  CHECK(error.hints()[0].starts_with("the build imports `torch`, which pip's isolated build"));
  CHECK(error_for("Collecting flash-attn==2.6.0 (from -r requirements.txt (line 3))\n").message() ==
        "pip cannot build `flash-attn==2.6.0`");
  CHECK(error_for("Collecting a\nObtaining file:///usr/app\n").message().starts_with("the image"));
}

TEST_CASE("a missing git is named with its requirement, in whichever order the output arrives") {
  const std::string collects = "Collecting lib@ git+http://127.0.0.1/lib\n";
  const std::string fails = "ERROR: Cannot find command 'git' - do you have 'git' installed?\n";
  for (const auto& log : {collects + fails, fails + collects}) {
    CHECK(error_of(
              {.message = "exit code: 1", .step = "[deps 2/2] RUN pip install x", .last_log = log})
              .message() == "git cannot fetch `lib@ git+http://127.0.0.1/lib`");
  }
}

TEST_CASE("a failure of pip leads with the requirement, and without the lines on trying again") {
  const Error error =
      error_of({.message = "exit code: 1",
                .step = "[deps 2/2] RUN pip install x",
                .last_log = "WARNING: Retrying (Retry(total=4)) after connection broken\n"
                            "ERROR: Failed building wheel for old-thing\n"});
  CHECK(error.message() == "pip cannot build `old-thing`");
  CHECK(whole(error).find("ERROR: Failed building") != std::string::npos);
  CHECK(whole(error).find("Retrying") == std::string::npos);
}

TEST_CASE("the last line of a build backend is the cause") {
  const Error error = error_of({.message = "exit code: 1",
                                .step = "[deps 2/2] RUN pip install -e .",
                                .last_log = "  error: subprocess-exited-with-error\n"
                                            "      Traceback (most recent call last):\n"
                                            "      ValueError: Unknown classifier: A \n"
                                            "      [end of output]\n  \n"
                                            "  note: This error originates from a subprocess\n"});
  REQUIRE(error.causes().size() >= 2);
  CHECK(error.causes()[1] == "ValueError: Unknown classifier: A");
}

TEST_CASE("no secret and no control character of an engine's words is shown") {
  const Error error =
      error_of({.message = "cannot fetch https://user:hunter2@index.example/\x1b[2J",
                .step = "[deps 2/2] RUN pip install -i https://u:hunter2@x/",
                .last_log = "Looking in https://user:hunter2@index.example\r\x07\n"});
  CHECK(whole(error).find("hunter2") == std::string::npos);
  CHECK(whole(error).find('\x1b') == std::string::npos);
  CHECK(whole(error).find('\x07') == std::string::npos);
}

TEST_CASE("a registry's refusal is reported with its remedy") {
  struct Row {
    const char* complaint;
    std::optional<std::string> origin;
    ErrorKind kind;
    const char* hint;
  };

  for (const auto& row : std::vector<Row>{
           {"denied: requested access to the resource is denied",
            {},
            ErrorKind::remote,
            "docker login registry.example"},
           {"unauthorized: authentication required", "`~/.docker/config.json`", ErrorKind::remote,
            "the login came from `~/.docker/config.json`"},
           {"no basic auth credentials", {}, ErrorKind::remote, "docker login registry.example"},
           {"Get \"https://registry.example/v2/\": http: server gave HTTP response to HTTPS client",
            {},
            ErrorKind::remote,
            "insecure-registries"},
           {"name unknown: Repository \"r\" not found", {}, ErrorKind::remote, "make it first"},
           {"manifest for x:1 not found: manifest unknown", {}, ErrorKind::remote, "the tag"},
           {"dial tcp: lookup registry.example: no such host",
            {},
            ErrorKind::remote,
            "cannot reach `registry.example`"},
           {"dial tcp 127.0.0.1:1: connect: connection refused",
            {},
            ErrorKind::remote,
            "cannot reach"},
           {"image was found but does not match the specified platform",
            {},
            ErrorKind::remote,
            "--platform"},
           {"write /var/lib/x: no space left on device",
            {},
            ErrorKind::environment,
            "docker system df"},
       }) {
    CAPTURE(row.complaint);
    const Error error = engine::transfer_error(
        "push", image::Reference::parse("registry.example/p/r:1"), row.complaint, row.origin);
    CHECK(error.kind() == row.kind);
    CHECK(error.message() == "could not push `registry.example/p/r:1`");
    CHECK(join(error.hints(), "\n").find(row.hint) != std::string::npos);
  }
}

TEST_CASE("pushes and pulls are summed up from engines' progress") {
  const auto recorded = [](const std::string& name, testing::RecordingReporter& reporter) {
    engine::Transfer transfer{&reporter};
    transfer.feed(read_file(std::filesystem::path{TEST_DATA} / "engine" / (name + ".jsonl")));
    transfer.finish();
    CHECK_FALSE(transfer.complaint());
    CHECK(transfer.digest());
    return transfer.layers();
  };
  testing::RecordingReporter reporter;
  const auto pushed = recorded("push", reporter);
  CHECK(pushed.size() >= 3);
  const auto uploaded = [](const std::vector<engine::PushResult::PushedLayer>& layers) {
    return std::count_if(layers.begin(), layers.end(),
                         [](const auto& layer) { return layer.uploaded && layer.size > 0; });
  };
  CHECK(uploaded(pushed) >= 2);
  CHECK(uploaded(recorded("push-again", reporter)) == 0);
  CHECK(uploaded(recorded("pull", reporter)) == 0);
  CHECK(recorded("podman-push", reporter).empty());
  CHECK_FALSE(reporter.steps.empty());
}

}  // namespace autopack::engine_errors_test
