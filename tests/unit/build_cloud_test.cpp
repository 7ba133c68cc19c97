#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "build/cloud/build_failure.hpp"
#include "build/cloud/build_log.hpp"
#include "build/cloud/build_request.hpp"
#include "image/layer.hpp"
#include "image/tar.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/package.hpp"
#include "pipeline/scan.hpp"
#include "support/cutting_proxy.hpp"
#include "support/fake_google.hpp"
#include "support/loopback_server.hpp"
#include "support/memory_registry.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace autopack::build_cloud_test {

using autopack::testing::CountingTokens;
using autopack::testing::CuttingProxy;
using autopack::testing::LoopbackServer;
using autopack::testing::MemoryRegistry;
using autopack::testing::ReceivedRequest;
using autopack::testing::RecordingReporter;
using autopack::testing::Reply;
using nlohmann::json;

namespace {

constexpr auto* target_name = "127.0.0.1:5000/team/model";
constexpr auto* bucket = "p_cloudbuild";

/// Cloud Storage and Cloud Build. A build pushes an image at once, and is read twice before it has
/// ended.
class CloudServer {
public:
  explicit CloudServer(MemoryRegistry& registry)
      : registry_{registry}, server_{[this](const ReceivedRequest& request) {
          const std::lock_guard lock{mutex_};
          return answer(request);
        }} {}

  int port() const { return server_.port(); }

  std::vector<ReceivedRequest> requests() const { return server_.requests(); }

  std::size_t count(const std::string& method, const std::string& part) const {
    const auto all = requests();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const auto& request) {
      return request.method == method && request.target.find(part) != std::string::npos;
    }));
  }

  std::string address{};  ///< that sessions of uploads name
  std::map<std::string, std::string> objects{};
  std::vector<json> builds{};
  std::vector<std::string> deleted{};
  std::vector<std::string> cancelled{};
  std::string granted{
      R"(["storage.objects.create","storage.objects.get","storage.objects.delete"])"};
  std::string status{"SUCCESS"};  ///< in which builds end
  std::function<void(const ReceivedRequest& request)> seen{};

private:
  static Reply refuse(int status) {
    return {.status = status,
            .body = fmt::format(R"({{"error":{{"code":{},"message":"no"}}}})", status)};
  }

  Reply answer(const ReceivedRequest& request) {
    if (seen) {
      seen(request);
    }
    const auto path = request.target.substr(0, request.target.find('?'));
    const auto is = [&](const char* method, const std::string& part) {
      return request.method == method && path.find(part) != std::string::npos;
    };
    if (path == "/storage/v1/b") {
      return {.body = fmt::format(R"({{"items":[{{"name":"{}"}}]}})", bucket)};
    }
    if (is("GET", "/iam/testPermissions")) {
      return {.body = fmt::format(R"({{"permissions":{}}})", granted)};
    }
    if (is("POST", "/upload/")) {
      const auto name = percent_decode(request.target.substr(request.target.rfind("name=") + 5));
      sizes_[name] = std::stoul(request.header("x-upload-content-length"));
      return {.headers = {{"Location", fmt::format("{}/upload/x?upload_id={}", address,
                                                   percent_encode(name))}}};
    }
    if (is("PUT", "/upload/")) {
      return upload(request, percent_decode(request.target.substr(request.target.rfind('=') + 1)));
    }
    if (path.starts_with("/storage/v1/b/")) {
      return object(request, percent_decode(path.substr(path.rfind('/') + 1)));
    }
    if (is("POST", ":cancel")) {
      cancelled.push_back(path);
      return {.body = "{}"};
    }
    if (request.method == "POST") {
      return create(json::parse(request.body));
    }
    if (path.ends_with("/builds")) {
      return {.body = json{{"builds", builds}}.dump()};
    }
    auto& build = builds.at(0);
    build["status"] = ++reads_ < 2 ? json("WORKING") : json(status);
    return {.body = build.dump()};
  }

  Reply upload(const ReceivedRequest& request, const std::string& name) {
    auto& data = partial_[name];
    const auto range = request.header("content-range");
    if (!range.starts_with("bytes */")) {
      data.resize(std::stoul(range.substr(6)));
      data += request.body;
    }
    if (data.size() < sizes_[name]) {
      Reply reply{.status = 308};
      if (!data.empty()) {
        reply.headers = {{"Range", fmt::format("bytes=0-{}", data.size() - 1)}};
      }
      return reply;
    }
    objects[name] = data;
    return {.body = R"({"generation":"17"})"};
  }

  Reply object(const ReceivedRequest& request, const std::string& name) {
    const auto found = objects.find(name);
    if (found == objects.end()) {
      return refuse(404);
    }
    if (request.method == "DELETE") {
      deleted.push_back(name);
      objects.erase(found);
      return {.status = 204};
    }
    if (request.target.find("alt=media") == std::string::npos) {
      return {
          .body =
              json{{"generation", "17"}, {"size", std::to_string(found->second.size())}}.dump()};
    }
    const auto first = std::stoul(request.header("range").substr(6));
    return first >= found->second.size()
               ? refuse(416)
               : Reply{.status = 206, .body = found->second.substr(first)};
  }

  Reply create(json build) {
    const auto id = fmt::format("b{}", builds.size() + 1);
    const std::string image = build["images"][0];
    const auto tag = image.substr(image.rfind(':') + 1);
    const json configuration{{"architecture", "amd64"},
                             {"os", "linux"},
                             {"config", json::object()},
                             {"rootfs", {{"type", "layers"}, {"diff_ids", json::array()}}}};
    build["id"] = id;
    build["status"] = "QUEUED";
    build["source_was_there"] =
        objects.contains(build["source"]["storageSource"]["object"].get<std::string>());
    build["results"]["images"] = {
        {{"name", image},
         {"digest", registry_.add_image("team/model", tag, configuration.dump(), "layer")}}};
    builds.push_back(build);
    objects[fmt::format("autopack/log-{}.txt", id)] =
        "#5 [1/2] FROM base\n#5 DONE 0.1s\nPUSH\nDONE\n";
    return {.body = json{{"name", "operations/x"}, {"metadata", {{"build", build}}}}.dump()};
  }

  MemoryRegistry& registry_;
  std::mutex mutex_;
  std::map<std::string, std::size_t> sizes_{};
  std::map<std::string, std::string> partial_{};
  int reads_{0};
  LoopbackServer server_;  // last: it uses all the others
};

/// A machine without an engine, with a project that has its own Dockerfile.
struct Machine {
  Machine() {
    std::ofstream{project.path() / "Dockerfile"} << "FROM scratch\nCOPY data /data\n";
    std::ofstream{project.path() / "data"} << "data\n";
    client = http::make_client({.user_agent = "test", .cancellation = &cancellation});
    uninterrupted = http::make_client({.user_agent = "test"});
  }

  packaging::Image package(int port) {
    server.address = fmt::format("http://127.0.0.1:{}", port);
    Services services{environment(), reporter, &cancellation, makers()};
    packaging::Request request{.project = {.directory = project.path(), .dockerfile = "Dockerfile"},
                               .options = {.platform = "linux/amd64"},
                               .uses_cloud_build = true,
                               .environment = environment()};
    const auto wanted = pipeline::scan_wanted(request);
    wanted->name = pipeline::name_image(target_name, "model", {});
    return pipeline::package(services, wanted);
  }

  Environment environment() const { return Environment{{{"HOME", home.path().string()}}}; }

  ServiceMakers makers() {
    ServiceMakers makers;
    makers.client = [this](const Cancellation*) {
      return std::shared_ptr<http::Client>{std::shared_ptr<void>{}, &registry};
    };
    makers.docker = []() -> std::shared_ptr<engine::Docker> {
      throw std::runtime_error{"no engine is expected"};
    };
    makers.cloud_build = [this] {
      return google::CloudBuildOptions{
          .service = {
              .credentials = [this]() -> google::TokenSource& { return tokens; },
              .client = client.get(),
              .sleep = [this](std::chrono::milliseconds) { cancellation.throw_if_requested(); }},
          .uninterrupted = [this]() -> http::Client& { return *uninterrupted; },
          .project = "p",
          .region = "us-central1",
          .endpoint_override = server.address,
          .storage_override = server.address};
    };
    return makers;
  }

  TemporaryDirectory project;
  TemporaryDirectory home;
  MemoryRegistry registry;
  CloudServer server{registry};
  RecordingReporter reporter;
  Cancellation cancellation;
  CountingTokens tokens;
  std::unique_ptr<http::Client> client;
  std::unique_ptr<http::Client> uninterrupted;
};

/// Returns the failure of a run; fails the test if there is none.
Error failure_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Interrupted& end) {
    return end.report();
  } catch (const Error& error) {
    return error;
  }
  FAIL("it did not fail");
  return {ErrorKind::internal, ""};
}

std::string whole(const Error& error) {
  return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

bool holds(const std::string& text, const std::string& part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("the request names source, base, image and log, and no substitution") {
  const auto body = build::to_json(
      build::CloudRequest{.source = {.bucket = "b", .name = "autopack/x.tar.gz", .generation = "7"},
                          .dockerfile = ".autopack/Dockerfile",
                          .image = "us-docker.pkg.dev/p/r/i:apd-1",
                          .stage = "dependencies",
                          .labels = {{"a", "$PROJECT_ID"}},
                          .network = "host",
                          .no_cache = true,
                          .tag = "autopack-1"});
  CHECK(body["source"]["storageSource"] ==
        json{{"bucket", "b"}, {"object", "autopack/x.tar.gz"}, {"generation", "7"}});
  CHECK(body["steps"][0]["args"] == json{"build", "--progress=plain", "--file=.autopack/Dockerfile",
                                         "--tag=us-docker.pkg.dev/p/r/i:apd-1",
                                         "--target=dependencies", "--network=host", "--no-cache",
                                         "--label=a=$$PROJECT_ID", "."});
  CHECK(body["images"] == json{"us-docker.pkg.dev/p/r/i:apd-1"});
  CHECK(body["tags"] == json{"autopack", "autopack-1"});
  CHECK(body["logsBucket"] == "gs://b/autopack");
  CHECK(build::log_of({.bucket = "b"}, "id").url() == "gs://b/autopack/log-id.txt");
}

TEST_CASE("the log of a build reports BuildKit's steps and the one that failed") {
  RecordingReporter reporter;
  build::CloudLog log{reporter, [](std::string_view step) { return "named " + std::string{step}; }};
  const std::string text =
      "starting build \"x\"\n"
      "Step #0: #4 [base 1/1] FROM python\n"
      "Step #0: #4 CACHED\n"
      "Step #0: #5 [dependencies 2/2] RUN pip install nosuch\n"
      "Step #0: #5 0.51 ERROR: No matching distribution found for nosuch\r\n"
      "Step #0: #5 ERROR: process \"/bin/sh\" did not complete successfully: exit code: 1\n"
      "Step #0: ------\n"
      "Step #0:  > [dependencies 2/2] RUN pip install nosuch:\n"
      "Step #0: 0.51 ERROR: No matching distribution found for nosuch\n"
      "ERROR";
  for (const char& one : text) {
    log.feed({&one, 1});
  }
  CHECK_FALSE(log.is_whole());
  log.finish();
  CHECK(log.is_whole());
  REQUIRE(log.failure());
  CHECK(log.failure()->step == "[dependencies 2/2] RUN pip install nosuch");
  CHECK(log.failure()->last_log == "ERROR: No matching distribution found for nosuch\n");
  CHECK(log.failure()->message.starts_with("process "));
  std::vector<std::string> states;
  for (const auto& step : reporter.steps) {
    states.push_back(fmt::format("{} {}", step.name, static_cast<int>(step.state)));
  }
  using State = StepEvent::State;
  const auto state = [](const char* name, State is) {
    return fmt::format("named {} {}", name, static_cast<int>(is));
  };
  const auto* const pip = "[dependencies 2/2] RUN pip install nosuch";
  CHECK(states == std::vector{state("[base 1/1] FROM python", State::started),
                              state("[base 1/1] FROM python", State::cached),
                              state(pip, State::started), state(pip, State::log),
                              state(pip, State::failed)});
}

TEST_CASE("a log keeps its last twenty lines") {
  RecordingReporter reporter;
  build::CloudLog log{reporter, {}};
  for (int i = 1; i <= 30; ++i) {
    log.feed(fmt::format("line {}\n", i));
  }
  CHECK(log.last_lines().starts_with("line 11\n"));
  CHECK(log.last_lines().ends_with("\nline 30"));
}

TEST_CASE("each end of a build has its own error") {
  struct Case {
    const char* build{};
    const char* message{};
    const char* rest{};
  };

  const std::vector<Case> cases{
      {R"({"status":"TIMEOUT"})", "took longer than 2 hours", "--builder=auto"},
      {R"({"status":"EXPIRED"})", "had no machine for the build for 1 hour", "--ongoing"},
      {R"({"status":"CANCELLED"})", "somebody else cancelled", "gcloud builds log"},
      {R"({"status":"INTERNAL_ERROR"})", "Cloud Build itself failed", "try again"},
      {R"({"status":"FAILURE","serviceAccount":"projects/p/serviceAccounts/a@b","failureInfo":
          {"type":"PUSH_NOT_AUTHORIZED","detail":"denied"}})",
       "could not push", "--member=serviceAccount:a@b --role=roles/artifactregistry.writer"},
      {R"({"status":"FAILURE","failureInfo":{"type":"FETCH_SOURCE_FAILED"}})",
       "could not read the source in `gs://b`", "roles/storage.objectUser"},
      {R"({"status":"FAILURE","failureInfo":{"type":"LOGGING_FAILURE"}})",
       "could not write its log", "roles/storage.objectUser"},
      {R"({"status":"FAILURE","statusDetail":"it broke"})", "the image build failed", "it broke"},
      {R"({"status":"NEW"})", "ended with `NEW`", "a last line"},
  };
  for (const auto& one : cases) {
    CAPTURE(one.build);
    RecordingReporter reporter;
    build::CloudLog log{reporter, {}};
    log.feed("a last line\n");
    const build::ContextParts parts{};
    const auto build = json::parse(one.build);
    const auto error = build::cloud_build_error({.build = &build,
                                                 .log = &log,
                                                 .parts = &parts,
                                                 .place = {"p", "r"},
                                                 .bucket = "b",
                                                 .image = "us-docker.pkg.dev/p/r/i:ap-1"});
    CHECK(holds(error.message(), one.message));
    CHECK(holds(whole(error), one.rest));
    CHECK(holds(whole(error), "a last line"));
  }
}

TEST_CASE("Cloud Build builds, its image is reported, and its source is deleted") {
  Machine machine;
  const auto image = machine.package(machine.server.port());
  REQUIRE(machine.server.builds.size() == 1);
  const auto& build = machine.server.builds.front();
  CHECK(build["source_was_there"] == true);
  CHECK(build["images"][0] == fmt::format("{}:{}", target_name, image.tag));
  CHECK(image.digest->str() == build["results"]["images"][0]["digest"]);
  CHECK(image.engine == "cloud-build");
  CHECK(machine.server.deleted ==
        std::vector<std::string>{build["source"]["storageSource"]["object"]});
  CHECK(holds(join(machine.reporter.lines, "\n"), "Sent 2 files"));
}

TEST_CASE("a build is made once and its source deleted, wherever a connection breaks") {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  {
    Machine machine;
    const CuttingProxy proxy{machine.server.port(), {}, {}};
    machine.package(proxy.port());
    sent = proxy.forward();
    received = proxy.backward();
  }
  constexpr std::uint64_t places = 100;
  for (std::uint64_t i = 0; i < 2 * places; ++i) {
    const bool is_answer = i % 2 == 0;
    const auto place = 1 + i / 2 * ((is_answer ? received : sent) - 1) / places;
    CAPTURE(is_answer);
    CAPTURE(place);
    Machine machine;
    const CuttingProxy proxy{machine.server.port(),
                             is_answer ? std::vector<std::uint64_t>{} : std::vector{place},
                             is_answer ? std::vector{place} : std::vector<std::uint64_t>{}};
    const auto image = machine.package(proxy.port());
    REQUIRE(machine.server.builds.size() == 1);
    CHECK(machine.server.builds.front()["source_was_there"] == true);
    CHECK(image.digest->str() == machine.server.builds.front()["results"]["images"][0]["digest"]);
    CHECK(machine.server.cancelled.empty());
    for (const auto& [name, text] : machine.server.objects) {
      CHECK(name == "autopack/log-b1.txt");
    }
  }
}

TEST_CASE("what is refused is reported before anything is sent") {
  Machine machine;
  machine.server.granted = R"(["storage.objects.get"])";
  const auto error = failure_of([&] { machine.package(machine.server.port()); });
  CHECK(holds(error.message(), "you may not use `gs://p_cloudbuild`"));
  CHECK(holds(whole(error), "missing: storage.objects.create, storage.objects.delete"));
  CHECK(machine.server.count("POST", "") == 0);
}

TEST_CASE("an interruption cancels the build and deletes its source") {
  for (const auto* const at : {"GET /v1/", "POST /v1/", "PUT /upload/"}) {
    CAPTURE(at);
    Machine machine;
    bool is_first = true;
    machine.server.seen = [&](const ReceivedRequest& request) {
      const auto call = request.method + " " + request.target;
      const bool is_poll = call.find("/builds/") != std::string::npos;
      if (call.starts_with(at) && (is_poll || !call.starts_with("GET")) && is_first) {
        is_first = false;
        machine.cancellation.requested = true;
      }
    };
    const auto error = failure_of([&] { machine.package(machine.server.port()); });
    CHECK(error.kind() == ErrorKind::interrupted);
    const bool had_build = !machine.server.builds.empty();
    CHECK(machine.server.cancelled.size() == (had_build ? 1 : 0));
    CHECK(holds(error.message(), had_build ? "build `b1` is cancelled" : "interrupted"));
    for (const auto& [name, text] : machine.server.objects) {
      CHECK(name == "autopack/log-b1.txt");
    }
  }
}

TEST_CASE("a failed build deletes its source, too, and does not move a tag") {
  Machine machine;
  machine.server.status = "TIMEOUT";
  const auto error = failure_of([&] { machine.package(machine.server.port()); });
  CHECK(holds(error.message(), "took longer than 2 hours"));
  CHECK(machine.server.deleted.size() == 1);
  CHECK(machine.server.cancelled.empty());
}

}  // namespace autopack::build_cloud_test
