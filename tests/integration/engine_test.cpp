#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "base/file.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "build/docker/build_context.hpp"
#include "executor/probe.hpp"
#include "http/client.hpp"
#include "image/tar.hpp"
#include "support/memory_plan.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

// Talks to the engine that DOCKER_HOST or the default names, and to a registry of its own on
// loopback. Fails when there is no engine.

using namespace autopack;
using namespace std::chrono_literals;

namespace {

constexpr const char* base_name = "autopack-engine-tests/base:1";

int free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(descriptor, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(descriptor);
  return ntohs(address.sin_port);
}

/// A registry on loopback that forgets everything when it ends.
class LoopbackRegistry {
public:
  LoopbackRegistry() : port_{free_port()} {
    const auto file = directory_.path() / "config.yml";
    write_file(file, fmt::format("version: 0.1\nstorage: {{inmemory: {{}}}}\n"
                                 "log: {{level: error}}\nhttp: {{addr: '127.0.0.1:{}'}}\n",
                                 port_));
    std::string program{"docker-registry"};
    std::string verb{"serve"};
    std::string config = file.string();
    const std::array<char*, 4> arguments{program.data(), verb.data(), config.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    REQUIRE(::posix_spawnp(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ) ==
            0);
    posix_spawn_file_actions_destroy(&actions);
    const auto client = http::make_client({});
    for (int i = 0; i < 100; ++i) {
      try {
        client->send({.url = fmt::format("http://127.0.0.1:{}/v2/", port_)});
        return;
      } catch (const Error&) {
        std::this_thread::sleep_for(50ms);
      }
    }
    FAIL("the registry does not answer");
  }

  ~LoopbackRegistry() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  LoopbackRegistry(const LoopbackRegistry&) = delete;
  LoopbackRegistry& operator=(const LoopbackRegistry&) = delete;

  std::string name(const std::string& path) const {
    return fmt::format("127.0.0.1:{}/{}", port_, path);
  }

private:
  TemporaryDirectory directory_;
  int port_;
  pid_t pid_{-1};
};

/// An engine, a base image in it, and the names that must go again.
struct Bench {
  testing::RecordingReporter reporter{};
  Cancellation cancellation{};
  std::unique_ptr<http::Client> client{http::make_client({.cancellation = &cancellation})};
  engine::Endpoint endpoint{engine::find_endpoint(Environment::of_process())};
  std::unique_ptr<engine::Docker> docker{engine::make_docker({.endpoint = endpoint,
                                                              .reporter = &reporter,
                                                              .cancellation = &cancellation,
                                                              .client = client.get()})};
  std::vector<std::string> made{};

  Bench() {
    import_base();
    made.emplace_back(base_name);
  }

  ~Bench() {
    cancellation.requested = false;
    for (auto name = made.rbegin(); name != made.rend(); ++name) {
      remove(*name);
    }
  }

  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  /// `docker import` of the test's static program.
  void import_base() {
    const std::string program = read_file(CONTAINER_PROGRAM);
    std::string tar;
    image::TarWriter writer{[&](std::string_view bytes) { tar += bytes; }};
    writer.add_directory("bin");
    writer.add_file("bin/program", 0755, program);
    writer.add_symlink("bin/python3", "program");
    writer.add_directory("tmp", 0777);
    writer.finish();
    http::Request request =
        ask("POST", "/v1.41/images/create?fromSrc=-&repo=autopack-engine-tests/base&tag=1");
    request.headers = {{"Content-Type", "application/x-tar"}};
    request.body = std::move(tar);
    REQUIRE(client->send(request).ok());
    // Podman does not take the tag.
    if (docker->info().podman) {
      docker->tag("autopack-engine-tests/base:latest", image::Reference::parse(base_name));
      made.emplace_back("autopack-engine-tests/base:latest");
    }
  }

  /// With force: a build that was cancelled in Podman keeps its base in use.
  void remove(const std::string& name) const {
    const int status = client->send(ask("DELETE", "/v1.41/images/" + name + "?force=1")).status;
    CHECK_MESSAGE((status == 200 || status == 404), name);
  }

  /// A request to the engine, beside the code under test.
  http::Request ask(const std::string& method, const std::string& path) const {
    http::Request request{.method = method};
    const bool is_unix = endpoint.url.starts_with("unix://");
    request.unix_socket = is_unix ? endpoint.url.substr(7) : "";
    request.url =
        (is_unix ? "http://localhost" : "http" + endpoint.url.substr(endpoint.url.find("://"))) +
        path;
    return request;
  }

  /// Builds `request` with the context of `parts`.
  engine::BuildResult build(engine::BuildRequest request, const build::ContextParts& parts) const {
    const build::PlannedContext context{parts};
    request.context = &context;
    return docker->build(request);
  }

  /// Containers that the engine has of the base, running or not.
  std::size_t containers() const {
    const std::string filter = percent_encode(fmt::format(R"({{"ancestor":["{}"]}})", base_name));
    const std::string body =
        client->send(ask("GET", "/v1.41/containers/json?all=1&filters=" + filter)).body;
    return split(replace_all(std::string{trim(body)}, "\"Id\"", "\n"), '\n').size() - 1;
  }

  long count(StepEvent::State state) const {
    return std::count_if(reporter.steps.begin(), reporter.steps.end(),
                         [&](const StepEvent& event) { return event.state == state; });
  }
};

struct Output {
  std::string output{};
  std::string errors{};
  int status{-1};
};

Output run(engine::Docker& docker, const engine::ContainerSpec& spec, int input = -1) {
  Output result;
  result.status =
      docker.run(spec, {.input = input,
                        .output = [&](std::string_view bytes) { result.output += bytes; },
                        .errors = [&](std::string_view bytes) { result.errors += bytes; }});
  return result;
}

engine::ContainerSpec program(std::vector<std::string> arguments) {
  return {.image = base_name,
          .arguments = std::move(arguments),
          .command = {"/bin/program"},
          .host_ipc = false};
}

}  // namespace

TEST_CASE("the engine tells what it is") {
  Bench bench;
  const auto& info = bench.docker->info();
  CHECK(info.api_version.starts_with("1."));
  CHECK_FALSE(info.version.empty());
  CHECK(info.platform.starts_with("linux/"));
  const auto image = bench.docker->inspect(base_name);
  REQUIRE(image);
  CHECK(image->platform == info.platform);
  CHECK(image->id.starts_with("sha256:"));
  CHECK_FALSE(bench.docker->inspect("autopack-engine-tests/absent:1"));
}

TEST_CASE("a base is probed without being run, and leaves no container") {
  Bench bench;
  const auto facts =
      executor::probe_base(*bench.docker, image::Reference::parse(base_name), "linux/amd64");
  CHECK_FALSE(facts.digest);
  CHECK(facts.python == "python3");
  CHECK_FALSE(facts.pip);
  CHECK_FALSE(facts.apt);
  CHECK(bench.containers() == 0);
}

TEST_CASE("a context arrives normalised, and a second build runs nothing") {
  Bench bench;
  const auto tree = std::make_shared<source::MemoryTree>();
  const std::string latin{"app/caf\xe9.txt"};
  tree->file("app/run.sh", "#!\n", true).file("app/data/a.txt", "a").file(latin, "x");
  tree->symlink("app/link", "data/a.txt").directory("app/empty");
  const std::string long_path = "app/" + std::string(90, 'd') + "/" + std::string(90, 'f');
  tree->file(long_path, "long");
  const auto plan =
      plan_of(tree, {"app/run.sh", "app/data/a.txt", latin, "app/link", "app/empty", long_path});
  engine::BuildRequest request;
  build::ContextParts parts{.plan = &plan};
  parts.root = "tree";
  request.buildkit = bench.docker->info().buildkit;
  request.labels = {{"autopack.test", "a \"b\""}};
  request.tags = {"autopack-engine-tests/context:1"};
  parts.files = {{.path = ".autopack/settings", .text = Secret{"hunter2"}}};
  parts.dockerfile = fmt::format(
      "FROM {}\nCOPY tree/app /app\nRUN [\"/bin/program\", \"list\", \"/app\"]\n", base_name);
  const auto built = bench.build(request, parts);
  bench.made.push_back(request.tags[0]);
  CHECK(built.image_id.starts_with("sha256:"));
  CHECK(built.context_bytes > 5000);
  const auto image = bench.docker->inspect(request.tags[0]);
  REQUIRE(image);
  CHECK(image->id == built.image_id);
  CHECK(image->labels.at("autopack.test") == "a \"b\"");

  auto spec = program({"list", "/app"});
  spec.image = request.tags[0];
  const auto listed = run(*bench.docker, spec).output;
  for (const auto& line : {"755 0:0 315619200 /app/run.sh", "644 0:0 315619200 /app/data/a.txt",
                           "755 0:0 315619200 /app/data", "755 0:0 315619200 /app/empty"}) {
    CAPTURE(listed);
    CHECK(listed.find(line) != std::string::npos);
  }
  CHECK(listed.find(" /" + latin + "\n") != std::string::npos);
  CHECK(listed.find(" /" + long_path + "\n") != std::string::npos);
  CHECK(listed.find("settings") == std::string::npos);
  CHECK(join(bench.reporter.traces, "").find("hunter2") == std::string::npos);

  const auto again = bench.build(request, parts);
  CHECK(again.image_id == built.image_id);
  CHECK(again.cached_steps >= 2);
  request.no_cache = true;
  CHECK(bench.build(request, parts).cached_steps <= 1);
}

TEST_CASE("both builders tell the failing step and its output") {
  Bench bench;
  const plan::ReadablePlan plan;
  for (const bool buildkit : {true, false}) {
    if (buildkit && !bench.docker->info().buildkit) {
      continue;
    }
    engine::BuildRequest request;
    build::ContextParts parts{.plan = &plan};
    request.buildkit = buildkit;
    parts.dockerfile = fmt::format(
        "FROM {}\nENV A=1\nRUN [\"/bin/program\", \"complain\", \"No matching distribution found "
        "for nosuch\"]\n",
        base_name);
    bench.reporter.steps.clear();
    try {
      bench.build(request, parts);
      FAIL("built");
    } catch (const Error& error) {
      CHECK(error.message().find("pip finds no version of `nosuch`") != std::string::npos);
      const std::string causes = join(error.causes(), "\n");
      CHECK(causes.find("line 3 of the generated Dockerfile") != std::string::npos);
      CHECK(causes.find("it exited with status 7") != std::string::npos);
    }
    CHECK(bench.count(StepEvent::State::failed) == 1);
    CHECK(bench.count(StepEvent::State::log) >= 1);
  }
}

TEST_CASE("wrong Dockerfiles and absent bases are told as such") {
  Bench bench;
  const plan::ReadablePlan plan;
  engine::BuildRequest request;
  build::ContextParts parts{.plan = &plan};
  request.buildkit = bench.docker->info().buildkit;
  parts.dockerfile = fmt::format("FROM {}\nBOGUS\n", base_name);
  CHECK_THROWS_AS(bench.build(request, parts), Error);
  parts.dockerfile = fmt::format("FROM 127.0.0.1:{}/no/such:1\n", free_port());
  try {
    bench.build(request, parts);
    FAIL("built");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::remote);
  }
}

TEST_CASE("a cancelled build ends at once") {
  Bench bench;
  const plan::ReadablePlan plan;
  engine::BuildRequest request;
  build::ContextParts parts{.plan = &plan};
  request.buildkit = bench.docker->info().buildkit;
  request.no_cache = true;
  parts.dockerfile = fmt::format("FROM {}\nRUN [\"/bin/program\", \"sleep\", \"60\"]\n", base_name);
  std::thread canceller{[&] {
    std::this_thread::sleep_for(1500ms);
    bench.cancellation.requested = true;
  }};
  const auto start = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(bench.build(request, parts), Interrupted);
  canceller.join();
  CHECK(std::chrono::steady_clock::now() - start < 60s);
}

TEST_CASE("an image goes to a registry and comes back by its digest") {
  Bench bench;
  const LoopbackRegistry registry;
  const auto name = image::Reference::parse(registry.name("team/app:v1"));
  bench.docker->tag(base_name, name);
  bench.made.push_back(name.tagged());
  const auto pushed = bench.docker->push(name);
  CHECK(bench.docker->push(name).digest == pushed.digest);
  if (!bench.docker->info().podman) {
    CHECK(pushed.layers.size() == 1);
    CHECK(pushed.bytes_uploaded > 100'000);
  }
  CHECK(bench.docker->resolve(name) == pushed.digest);

  const auto pinned = image::Reference::parse(name.with_digest(pushed.digest));
  bench.docker->remove_image(name.tagged());
  bench.docker->remove_image(pinned.text);
  bench.docker->pull(pinned, "linux/amd64");
  bench.made.push_back(pinned.text);
  CHECK(bench.docker->inspect(pinned.text));
  const auto facts = executor::probe_base(*bench.docker, name, "linux/amd64");
  CHECK(facts.digest == pushed.digest);
  CHECK(executor::BuildBase{*bench.docker, facts}.from() == pinned.text);

  const plan::ReadablePlan plan;
  engine::BuildRequest request;
  build::ContextParts parts{.plan = &plan};
  request.buildkit = bench.docker->info().buildkit;
  request.tags = {"autopack-engine-tests/derived:1"};
  parts.dockerfile = fmt::format("FROM {}\nRUN [\"/bin/program\", \"echo\", \"x\"]\n", pinned.text);
  bench.build(request, parts);
  bench.made.push_back(request.tags[0]);
}

TEST_CASE("a registry that has no such image or does not answer is told") {
  Bench bench;
  const LoopbackRegistry registry;
  for (const auto& text :
       {registry.name("no/such:1"), fmt::format("127.0.0.1:{}/no/such:1", free_port())}) {
    const auto name = image::Reference::parse(text);
    for (const bool pull : {true, false}) {
      try {
        pull ? bench.docker->pull(name, "linux/amd64")
             : static_cast<void>(bench.docker->resolve(name));
        FAIL("found");
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::remote);
        CHECK(error.message().find(text) != std::string::npos);
      }
    }
  }
  CHECK_THROWS_AS(bench.docker->push(image::Reference::parse(registry.name("un/tagged:1"))), Error);
}

TEST_CASE("a container's streams, status and environment pass through") {
  Bench bench;
  CHECK(run(*bench.docker, program({"echo", "hello"})).output == "hello\n");
  const auto complained = run(*bench.docker, program({"complain", "woe"}));
  CHECK(complained.output.empty());
  CHECK(complained.errors == "woe\n");
  CHECK(complained.status == 7);
  auto spec = program({"env", "NAME"});
  spec.environment = {{"NAME", "a value"}};
  CHECK(run(*bench.docker, spec).output == "a value\n");
  auto terminal = program({"tty"});
  terminal.tty = true;
  CHECK(run(*bench.docker, terminal).output == "a terminal\r\n");
  auto absent = program({});
  absent.command = {"/bin/absent"};
  CHECK_THROWS_AS(run(*bench.docker, absent), Error);
  CHECK(bench.containers() == 0);
}

TEST_CASE("a container's mounts are read-only and never made on the host") {
  Bench bench;
  const TemporaryDirectory directory;
  write_file(directory.path() / "key.json", "{}");
  auto spec = program({"list", "/mounted"});
  spec.mounts = {{.host_path = directory.path().string(), .container_path = "/mounted"}};
  CHECK(run(*bench.docker, spec).output.find("/mounted/key.json") != std::string::npos);
  spec.mounts[0].host_path = (directory.path() / "absent").string();
  CHECK_THROWS_AS(run(*bench.docker, spec), Error);
  CHECK_FALSE(std::filesystem::exists(directory.path() / "absent"));
}

TEST_CASE("standard input reaches the program, more than any buffer holds") {
  Bench bench;
  const TemporaryDirectory directory;
  std::string text;
  for (int i = 0; text.size() < 3'000'000; ++i) {
    text += fmt::format("line {}\n", i);
  }
  write_file(directory.path() / "input", text);
  const int input = ::open((directory.path() / "input").c_str(), O_RDONLY | O_CLOEXEC);
  auto spec = program({"cat"});
  spec.interactive = true;
  const auto result = run(*bench.docker, spec, input);
  ::close(input);
  CHECK(result.status == 0);
  CHECK(result.output == text);
}

TEST_CASE("signals reach the program instead of this process") {
  Bench bench;
  const pid_t self = ::getpid();
  Output result;
  result.status = bench.docker->run(program({"wait"}), {.output =
                                                            [&](std::string_view bytes) {
                                                              result.output += bytes;
                                                              if (bytes == "ready\n") {
                                                                ::kill(self, SIGTERM);
                                                              }
                                                            },
                                                        .errors = [](std::string_view) {}});
  CHECK(result.output == "ready\nsignal 15\n");
  CHECK(result.status == 55);
  CHECK(bench.containers() == 0);
}
