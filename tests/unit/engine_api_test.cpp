#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "build/docker/build_context.hpp"
#include "engine/container_request.hpp"
#include "engine/docker.hpp"
#include "support/loopback_server.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace autopack::engine_api_test {

using testing::LoopbackServer;
using testing::ReceivedRequest;
using testing::Reply;

namespace {

struct Engine {
  std::unique_ptr<http::Client> client{http::make_client({})};
  std::unique_ptr<engine::Docker> docker;

  explicit Engine(std::string url, std::string origin = "DOCKER_HOST") {
    docker = engine::make_docker(
        {.endpoint = {.url = std::move(url), .origin = std::move(origin)}, .client = client.get()});
  }
};

Reply ping(std::vector<http::Header> more = {}) {
  Reply reply{.headers = {{"Api-Version", "1.41"}, {"Ostype", "linux"}}, .body = "OK"};
  reply.headers.insert(reply.headers.end(), more.begin(), more.end());
  return reply;
}

/// Returns an engine that responds to `target` with `answer`.
LoopbackServer::Handler answering(std::string part, Reply answer) {
  return [part = std::move(part), answer = std::move(answer)](const ReceivedRequest& request) {
    if (request.target == "/_ping") {
      return ping();
    }
    if (request.target == "/v1.41/version") {
      return Reply{.body = R"({"Version":"20.10","Os":"linux","Arch":"amd64"})"};
    }
    return request.target.find(part) != std::string::npos ? answer : Reply{.status = 404};
  };
}

Error error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error;
  }
  FAIL("nothing was thrown");
  return {ErrorKind::internal, ""};
}

std::string whole(const Error& error) {
  return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

}  // namespace

TEST_CASE("an engine's features follow from its ping") {
  struct Row {
    std::vector<http::Header> headers;
    const char* version;
    bool buildkit;
    bool podman;
  };

  const std::vector<Row> rows{
      {{}, "1.41", true, false},
      {{{"Builder-Version", "2"}}, "1.41", true, false},
      {{{"Builder-Version", "1"}}, "1.41", false, false},
      {{{"Api-Version", "1.30"}}, "1.30", false, false},
      {{{"Api-Version", "1.99"}}, "1.47", true, false},
      {{{"Ostype", "windows"}}, "1.41", false, false},
      {{{"Builder-Version", ""}, {"Libpod-Api-Version", "4.3.1"}}, "1.41", false, true},
  };
  for (const auto& row : rows) {
    const LoopbackServer server{[&](const ReceivedRequest& request) {
      return request.target == "/_ping"
                 ? ping(row.headers)
                 : Reply{.body = R"({"Version":"1","Os":"linux","Arch":"arm64"})"};
    }};
    const Engine engine{server.url()};
    CAPTURE(row.version);
    CHECK(engine.docker->info().api_version == row.version);
    CHECK(engine.docker->info().buildkit == row.buildkit);
    CHECK(engine.docker->info().podman == row.podman);
    CHECK(engine.docker->info().platform == "linux/arm64");
    CHECK(server.requests().size() == 2);
  }
}

TEST_CASE("a missing engine is reported with its address and the remedy") {
  const TemporaryDirectory directory;
  const std::string missing = (directory.path() / "missing.sock").string();
  const std::string file = (directory.path() / "file").string();
  const std::string dead = (directory.path() / "dead.sock").string();
  write_file(file, "");
  {
    const LoopbackServer server{[](const ReceivedRequest&) { return Reply{}; }, dead};
  }

  struct Row {
    std::string url;
    const char* says;
  };

  for (const auto& row : std::vector<Row>{{"unix://" + missing, "No such file"},
                                          {"unix://" + file, "is not a socket"},
                                          {"unix://" + dead, "/dead.sock"},
                                          {"tcp://127.0.0.1:1", "DOCKER_HOST"}}) {
    CAPTURE(row.url);
    const Engine engine{row.url, "docker context `team`"};
    const Error error = error_of([&] { engine.docker->info(); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(error.message() ==
          "cannot reach the Docker Engine at `" + row.url + "` (from docker context `team`)");
    CHECK(whole(error).find(row.says) != std::string::npos);
    CHECK_FALSE(error.hints().empty());
  }
  const Engine engine{"unix://" + missing, "the default"};
  CHECK(whole(error_of([&] { engine.docker->info(); })).find("systemctl start docker") !=
        std::string::npos);
}

TEST_CASE("a server that is not a Docker Engine is reported") {
  for (const auto& reply : {Reply{.body = "<html>"}, Reply{.headers = {{"Api-Version", "two"}}},
                            Reply{.headers = {{"Api-Version", "1.41x"}}}}) {
    const LoopbackServer server{[&](const ReceivedRequest&) { return reply; }};
    const Engine engine{server.url()};
    const Error error = error_of([&] { engine.docker->info(); });
    CHECK(error.kind() == ErrorKind::environment);
    CHECK(whole(error).find("not a Docker Engine") != std::string::npos);
  }
}

TEST_CASE("a private image is asked for with the login of its registry") {
  const std::string digest = "sha256:" + std::string(64, 'a');
  const LoopbackServer server{
      answering("/distribution/", {.body = R"({"Descriptor":{"digest":")" + digest + "\"}}"})};
  const auto client = http::make_client({});
  std::vector<std::string> hosts;
  const auto docker = engine::make_docker(
      {.endpoint = {.url = server.url()},
       .credentials =
           [&](const std::string& host) {
             hosts.push_back(host);
             return std::optional{registry::Credential{
                 .username = "user", .password = Secret{"hunter2"}, .origin = "a test"}};
           },
       .client = client.get()});
  CHECK(docker->resolve(image::Reference::parse("registry.example/a/b:1")).str() == digest);
  REQUIRE_FALSE(hosts.empty());
  CHECK(hosts[0] == "registry.example/a/b");
  const auto sent = server.requests().back();
  CHECK(sent.target == "/v1.41/distribution/registry.example/a/b:1/json");
  CHECK(base64_decode(sent.header("X-Registry-Auth")).value().find("hunter2") != std::string::npos);
}

TEST_CASE("proxies of docker's configuration are those of its command line") {
  const TemporaryDirectory directory;
  const Environment environment{{{"DOCKER_CONFIG", directory.path().string()}}};
  const auto found = [&](const std::string& text, const std::string& url = "unix:///x.sock") {
    write_file(directory.path() / "config.json", text);
    std::string all;
    for (const auto& [name, value] : engine::find_proxies(environment, url)) {
      all += name + "=" + value.reveal() + " ";
    }
    return all;
  };
  CHECK(found(R"({"proxies": {"default": {"httpProxy": "http://p:1", "noProxy": "a,b"}}})") ==
        "HTTP_PROXY=http://p:1 NO_PROXY=a,b http_proxy=http://p:1 no_proxy=a,b ");
  const std::string both =
      R"({"proxies": {"default": {"httpsProxy": "x"}, "tcp://h:1": {"allProxy": "y"}}})";
  CHECK(found(both) == "HTTPS_PROXY=x https_proxy=x ");
  CHECK(found(both, "tcp://h:1") == "ALL_PROXY=y all_proxy=y ");
  for (const char* const text : {"", "{", "[]", "{}", R"({"proxies": 5})",
                                 R"({"proxies": {"default": {"httpProxy": 5, "ftpProxy": ""}}})"}) {
    CHECK(found(text).empty());
  }
}

TEST_CASE("build steps and containers get the proxies, and no log does") {
  const LoopbackServer server{answering("/nothing", {})};
  testing::RecordingReporter reporter;
  const auto client = http::make_client({.reporter = &reporter});
  const auto docker = engine::make_docker(
      {.endpoint = {.url = server.url()},
       .proxies = {{"HTTP_PROXY", Secret{"http://me:hunter2@p:1"}}, {"NO_PROXY", Secret{"own"}}},
       .reporter = &reporter,
       .client = client.get()});
  engine::BuildRequest build;
  const build::PlannedContext context{{.dockerfile = "FROM scratch\n"}};
  build.context = &context;
  const auto told = error_of([&] { docker->build(build); });
  CHECK_THROWS_AS(docker->run({.image = "x", .environment = {{"NO_PROXY", "given"}}}, {}), Error);
  std::string sent;
  for (const auto& request : server.requests()) {
    sent += request.target + " " + request.body + "\n";
  }
  CHECK(sent.find("buildargs=%7B%22HTTP_PROXY%22%3A%22http%3A%2F%2Fme%3Ahunter2%40p%3A1%22%2C%22NO_"
                  "PROXY%22%3A%22own%22%7D") != std::string::npos);
  CHECK(sent.find(R"("HTTP_PROXY=http://me:hunter2@p:1")") != std::string::npos);
  CHECK(sent.find("NO_PROXY=given") != std::string::npos);
  CHECK(sent.find("NO_PROXY=own") == std::string::npos);
  std::string logged = whole(told);
  for (const auto& text : reporter.traces) {
    logged += text;
  }
  for (const auto& text : reporter.details) {
    logged += text;
  }
  CHECK(logged.find("hunter2") == std::string::npos);
}

TEST_CASE("an engine's malformed answers are errors, never crashes") {
  const auto name = image::Reference::parse("registry.example/a/b:1");
  for (const char* body : {"", "[]", "7", "null", "{", R"({"Descriptor":5})",
                           R"({"Descriptor":{"digest":"sha256:short"}})", "<html>"}) {
    CAPTURE(body);
    const LoopbackServer server{answering("/", {.body = body})};
    const Engine engine{server.url()};
    CHECK_THROWS_AS(engine.docker->resolve(name), Error);
    CHECK_THROWS_AS(engine.docker->push(name), Error);
    CHECK_THROWS_AS(engine.docker->run({.image = "x"}, {}), Error);
    const build::PlannedContext context{{}};
    CHECK_THROWS_AS(engine.docker->build({.context = &context}), Error);
  }
  const LoopbackServer server{
      answering("/images/",
                {.body = R"({"Id":5,"RepoDigests":"x","Config":[],"Os":null,"Architecture":{}})"})};
  const Engine engine{server.url()};
  CHECK(engine.docker->inspect("x")->id.empty());
}

TEST_CASE("a build whose connection breaks fails") {
  const std::string half = "{\"stream\":\"Step 1/2 : FROM x\"}\n{\"stream\":\"Ste";
  const LoopbackServer server{
      answering("/build", {.body = half + std::string(500, ' '), .drop_after = half.size()})};
  const Engine engine{server.url()};
  const build::PlannedContext context{{}};
  CHECK_THROWS_AS(engine.docker->build({.context = &context}), Error);
}

TEST_CASE("a container is described as docker run would") {
  const engine::ContainerSpec spec{
      .image = "x",
      .arguments = {"--epochs", "3"},
      .command = {"/start"},
      .environment = {{"A", "b=c"}},
      .mounts = {{.host_path = "/key", .container_path = "/tmp/key", .read_only = true}},
      .gpus = true,
      .network_mode = "host",
      .tty = true};
  const auto body = autopack::parse_json(engine::container_body(spec, true));
  CHECK(body["Entrypoint"] == nlohmann::json{"/start"});
  CHECK(body["Cmd"] == nlohmann::json{"--epochs", "3"});
  CHECK(body["Env"] == nlohmann::json{"A=b=c"});
  CHECK(body["OpenStdin"] == true);
  CHECK(body["StdinOnce"] == true);
  const auto& host = body["HostConfig"];
  CHECK(host["IpcMode"] == "host");
  CHECK(host["NetworkMode"] == "host");
  CHECK(host["AutoRemove"] == false);
  CHECK(host["DeviceRequests"].dump() == R"([{"Capabilities":[["gpu"]],"Count":-1}])");
  CHECK(host["Mounts"].dump() ==
        R"([{"ReadOnly":true,"Source":"/key","Target":"/tmp/key","Type":"bind"}])");
  const auto requests = [](const engine::ContainerSpec& with) {
    const auto described = autopack::parse_json(engine::container_body(with, false));
    return described["HostConfig"]["DeviceRequests"].dump();
  };
  CHECK(requests({.gpus = true, .gpu_count = 2}) == R"([{"Capabilities":[["gpu"]],"Count":2}])");
  CHECK(requests({.gpu_ids = {"0", "2"}}) ==
        R"([{"Capabilities":[["gpu"]],"DeviceIDs":["0","2"]}])");
  CHECK(requests({.gpu_ids = {"nvidia.com/gpu=0"}}) ==
        R"([{"DeviceIDs":["nvidia.com/gpu=0"],"Driver":"cdi"}])");
  const auto plain = autopack::parse_json(engine::container_body({.image = "x"}, false));
  CHECK_FALSE(plain.contains("Cmd"));
  CHECK_FALSE(plain.contains("Entrypoint"));
  CHECK_FALSE(plain["HostConfig"].contains("DeviceRequests"));
}

TEST_CASE("a volume has the label that it asks for") {
  const engine::ContainerSpec spec{
      .image = "x",
      .mounts = {{.host_path = "/a", .container_path = "/b", .selinux_label = "Z"},
                 {.host_path = "/c", .container_path = "/d", .read_only = false}}};
  const auto host = parse_json(engine::container_body(spec, false, true))["HostConfig"];
  CHECK(host["Binds"].dump() == R"(["/a:/b:ro,Z"])");
  CHECK(host["Mounts"].size() == 1);
  CHECK(host["SecurityOpt"].dump() == R"(["label=disable"])");
  CHECK_FALSE(
      parse_json(engine::container_body(spec, false))["HostConfig"].contains("SecurityOpt"));
  const auto podmans = parse_json(engine::podman_body("n", spec, false, true));
  CHECK(podmans["mounts"][0]["options"].dump() == R"(["rbind","ro","Z"])");
  CHECK(podmans["mounts"][1]["options"].dump() == R"(["rbind","rw"])");
  CHECK(podmans["selinux_opts"].dump() == R"(["disable"])");
}

TEST_CASE("Podman gets GPUs by their names as devices") {
  using Names = std::vector<std::string>;
  CHECK(engine::cdi_names({}).empty());
  CHECK(engine::cdi_names({.gpus = true}) == Names{"nvidia.com/gpu=all"});
  CHECK(engine::cdi_names({.gpus = true, .gpu_count = 2}) ==
        Names{"nvidia.com/gpu=0", "nvidia.com/gpu=1"});
  CHECK(engine::cdi_names({.gpus = true, .gpu_ids = {"0", "GPU-8f"}}) ==
        Names{"nvidia.com/gpu=0", "nvidia.com/gpu=GPU-8f"});
  CHECK(engine::cdi_names({.gpu_ids = {"amd.com/gpu=1"}}) == Names{"amd.com/gpu=1"});
  const auto body = parse_json(engine::podman_body(
      "name",
      {.image = "x",
       .arguments = {"a"},
       .command = {"sh"},
       .environment = {{"A", "b"}},
       .ports = {{.host_address = "127.0.0.1", .host_port = "8000", .container_port = "80/udp"}},
       .gpus = true,
       .network_mode = "job",
       .host_name = "worker",
       .memory = 1000,
       .processors = 0.5},
      true));
  CHECK(body["devices"].dump() == R"([{"path":"nvidia.com/gpu=all"}])");
  CHECK(body["entrypoint"].dump() == R"(["sh"])");
  CHECK(body["command"].dump() == R"(["a"])");
  CHECK(body["env"].dump() == R"({"A":"b"})");
  CHECK(body["ipcns"]["nsmode"] == "host");
  CHECK(body["stdin"] == true);
  CHECK(body["portmappings"].dump() ==
        R"([{"container_port":80,"host_ip":"127.0.0.1","host_port":8000,"protocol":"udp"}])");
  CHECK(body["Networks"].dump() == R"({"job":{"aliases":["worker"]}})");
  CHECK(body["resource_limits"].dump() ==
        R"({"cpu":{"period":100000,"quota":50000},"memory":{"limit":1000,"swap":1000}})");
  CHECK(body["labels"].contains("autopack.owner"));
}

TEST_CASE("a store from which BuildKit cannot read is recognised") {
  const auto with = [](const std::string& version, const std::string& store) {
    LoopbackServer server{[=](const ReceivedRequest& request) {
      if (request.target == "/_ping") {
        return Reply{
            .headers = {{"Api-Version", version}, {"Ostype", "linux"}, {"Builder-Version", "2"}}};
      }
      if (request.target.ends_with("/info")) {
        return Reply{.body = store};
      }
      return Reply{.body = R"({"Version":"x","Os":"linux","Arch":"amd64"})"};
    }};
    return Engine{server.url()}.docker->info();
  };
  const std::string containerd =
      R"({"Driver":"overlayfs","DriverStatus":[["driver-type","io.containerd.snapshotter.v1"]]})";
  CHECK(with("1.45", containerd).store_lacks_upload);
  CHECK_FALSE(with("1.45", containerd).buildkit);
  CHECK(with("1.45", R"({"Driver":"overlay2","DriverStatus":[["Backing","extfs"]]})").buildkit);
  CHECK(with("1.45", "[]").buildkit);
  CHECK(with("1.48", containerd).buildkit);
  CHECK(with("1.41", containerd).buildkit);
}

}  // namespace autopack::engine_api_test
