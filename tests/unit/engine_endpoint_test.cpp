#include "base/descriptor.hpp"
#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/docker.hpp"
#include "engine/ssh_tunnel.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <memory>
#include <vector>

namespace autopack::engine_endpoint_test {

using engine::find_endpoint;

namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

engine::Endpoint find(Variables variables, const std::filesystem::path& socket = "/nowhere.sock") {
  variables.try_emplace("HOME", "/nonexistent");
  return find_endpoint(Environment{std::move(variables)}, std::nullopt, socket);
}

void add_context(const std::filesystem::path& config,
                 const std::string& name,
                 const std::string& meta) {
  write_file(config / "contexts/meta" / sha256(name).hex() / "meta.json", meta);
}

}  // namespace

TEST_CASE("DOCKER_HOST names the engine") {
  struct Row {
    const char* host;
    const char* url;
  };

  for (const Row& row : {Row{"unix:///run/other.sock", "unix:///run/other.sock"},
                         Row{"tcp://build.example:2375", "tcp://build.example:2375"},
                         Row{"tcp://build.example", "tcp://build.example:2375"},
                         Row{"http://127.0.0.1:1234", "http://127.0.0.1:1234"}}) {
    const auto endpoint = find({{"DOCKER_HOST", row.host}, {"DOCKER_CONTEXT", "ignored"}});
    CHECK(endpoint.url == row.url);
    CHECK(endpoint.origin == "DOCKER_HOST");
    CHECK_FALSE(endpoint.use_tls);
  }
  for (const char* wrong :
       {"ssh://", "ssh://-oProxyCommand=x", "ssh://user:password@host", "ssh://host:0",
        "ssh://host/$(x)", "npipe:////./pipe/docker_engine", "fd://", "unix://",
        "build.example:2375", "tcp://", "nonsense", "ssh"}) {
    CAPTURE(wrong);
    try {
      find({{"DOCKER_HOST", wrong}});
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::usage);
      CHECK(error.message().find("DOCKER_HOST") != std::string::npos);
      CHECK_FALSE(error.hints().empty());
    }
  }
}

TEST_CASE("TLS comes from DOCKER_TLS_VERIFY and DOCKER_CERT_PATH") {
  const TemporaryDirectory directory;
  write_file(directory.path() / "ca.pem", "ca");
  write_file(directory.path() / "cert.pem", "cert");
  const auto endpoint = find({{"DOCKER_HOST", "tcp://build.example"},
                              {"DOCKER_TLS_VERIFY", "1"},
                              {"DOCKER_CERT_PATH", directory.path().string()}});
  CHECK(endpoint.use_tls);
  CHECK(endpoint.url == "tcp://build.example:2376");
  CHECK(endpoint.tls.verify);
  CHECK(endpoint.tls.ca_file == directory.path() / "ca.pem");
  CHECK(endpoint.tls.certificate_file == directory.path() / "cert.pem");
  CHECK(endpoint.tls.key_file.empty());
  CHECK_FALSE(find({{"DOCKER_HOST", "tcp://build.example"}, {"DOCKER_TLS", "1"}}).tls.verify);
}

TEST_CASE("a docker context names the engine") {
  const TemporaryDirectory directory;
  const auto& config = directory.path();
  add_context(
      config, "team",
      R"({"Name":"team","Endpoints":{"docker":{"Host":"tcp://team.example","SkipTLSVerify":true}}})");
  add_context(config, "plain", R"({"Endpoints":{"docker":{"Host":"unix:///run/plain.sock"}}})");
  add_context(config, "empty", R"({"Endpoints":[]})");
  add_context(config, "broken", "{");
  add_context(config, "far", R"({"Endpoints":{"docker":{"Host":"ssh://far"}}})");
  write_file(config / "contexts/tls" / sha256("team").hex() / "docker/ca.pem", "ca");
  const auto with = [&](const char* context) {
    return find({{"DOCKER_CONFIG", config.string()}, {"DOCKER_CONTEXT", context}});
  };
  const auto team = with("team");
  CHECK(team.url == "tcp://team.example:2376");
  CHECK(team.use_tls);
  CHECK_FALSE(team.tls.verify);
  CHECK(team.tls.ca_file.filename() == "ca.pem");
  CHECK(team.origin == "docker context `team`");
  CHECK(with("plain").url == "unix:///run/plain.sock");
  CHECK_FALSE(with("plain").use_tls);
  CHECK(with("far").url == "ssh://far");
  CHECK(with("far").tunnel->command() == "ssh far");
  CHECK(with("default").url == "unix:///nowhere.sock");
  for (const char* wrong : {"none", "empty", "broken", "../plain"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(with(wrong), Error);
  }

  write_file(config / "config.json", R"({"currentContext":"plain"})");
  CHECK(find({{"DOCKER_CONFIG", config.string()}}).url == "unix:///run/plain.sock");
  CHECK(with("team").url == "tcp://team.example:2376");
  write_file(config / "config.json", "[]");
  CHECK_THROWS_AS(find({{"DOCKER_CONFIG", config.string()}}), Error);
  write_file(config / "config.json", "");
  CHECK(find({{"DOCKER_CONFIG", config.string()}}).origin == "the default");
}

TEST_CASE("the flag overrides DOCKER_HOST and contexts") {
  const auto endpoint = find_endpoint(Environment{{{"DOCKER_HOST", "tcp://other"}}}, "ssh://host");
  CHECK(endpoint.url == "ssh://host");
  CHECK(endpoint.origin == "`--engine-host`");
  CHECK_FALSE(endpoint.is_local());
  CHECK_THROWS_WITH_AS(find_endpoint(Environment{}, "nonsense"),
                       doctest::Contains("`--engine-host`"), Error);
  try {
    find_endpoint(Environment{}, "ssh://me:s3cret@host");
    FAIL("accepted");
  } catch (const Error& error) {
    CHECK(error.message() == "`ssh://host` is not an engine's address (from `--engine-host`)");
    CHECK(error.causes().front().starts_with("ssh takes no password in an address"));
    CHECK(error.hints().back() == "--engine-host=ssh://user@host");
  }
}

TEST_CASE("an address of ssh") {
  using engine::parse_ssh_address;
  const auto full = parse_ssh_address("ssh://me@Build-Box:2222/run/user/1000/docker.sock").value();
  CHECK(full.user == "me");
  CHECK(full.host == "Build-Box");
  CHECK(full.port == 2222);
  CHECK(full.socket == "/run/user/1000/docker.sock");
  CHECK(engine::SshTunnel{full}.command() == "ssh -p 2222 me@Build-Box");
  const auto brief = parse_ssh_address("ssh://box/").value();
  CHECK(brief.host == "box");
  CHECK_FALSE(brief.user);
  CHECK_FALSE(brief.port);
  CHECK_FALSE(brief.socket);
  CHECK(parse_ssh_address("ssh://a@b@[::1]:22")->user == "a@b");
  CHECK(parse_ssh_address("ssh://[::1]:22")->host == "::1");
  CHECK(parse_ssh_address("ssh://[::1]")->host == "::1");
  for (const char* wrong : {"tcp://box", "ssh://@box", "ssh://box:x", "ssh://box:65536", "ssh://-x",
                            "ssh://-x@box", "ssh://b ox", "ssh://box/a'b"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_ssh_address(wrong));
  }
}

namespace {

/// A socket that accepts connections during its lifetime.
class Listener {
public:
  explicit Listener(const std::filesystem::path& path)
      : descriptor_{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
    std::filesystem::create_directories(path.parent_path());
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.string().copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(descriptor_.get(), reinterpret_cast<const sockaddr*>(&address),
                   sizeof address) == 0);
    REQUIRE(::listen(descriptor_.get(), 1) == 0);
  }

private:
  FileDescriptor descriptor_;
};

}  // namespace

TEST_CASE("without a name, the first engine that listens is used") {
  const TemporaryDirectory directory;
  const auto& home = directory.path();
  const Variables variables{{"XDG_RUNTIME_DIR", (home / "run").string()}, {"HOME", home.string()}};
  const auto standard = home / "docker.sock";
  CHECK(find(variables, standard).url == "unix://" + standard.string());
  write_file(standard, "");  // left behind by an engine that has ended
  CHECK(find(variables, standard).origin == "the default");

  struct Row {
    const char* path;
    const char* origin;
  };

  // From the least preferred on: each is preferred to those before.
  std::vector<std::unique_ptr<Listener>> listeners;
  for (const Row& row :
       {Row{".rd/docker.sock", "Rancher Desktop"},
        Row{".config/colima/default/docker.sock", "Colima"},
        Row{".colima/default/docker.sock", "Colima"}, Row{".orbstack/run/docker.sock", "OrbStack"},
        Row{".docker/run/docker.sock", "Docker Desktop"},
        Row{".docker/desktop/docker.sock", "Docker Desktop"},
        Row{"run/docker.sock", "the default of a rootless engine"}}) {
    CAPTURE(row.path);
    listeners.push_back(std::make_unique<Listener>(home / row.path));
    const auto endpoint = find(variables, standard);
    CHECK(endpoint.url == "unix://" + (home / row.path).string());
    CHECK(endpoint.origin == row.origin);
    CHECK_FALSE(endpoint.starts_podman);
  }
  std::filesystem::remove(standard);
  const Listener engine{standard};
  CHECK(find(variables, standard).origin == "the default");
}

TEST_CASE("Podman is started if it is installed and no engine listens") {
  const TemporaryDirectory directory;
  const auto program = directory.path() / "podman";
  write_file(program, "#!/bin/sh\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  const auto endpoint = find({{"PATH", directory.path().string()}});
  CHECK(endpoint.starts_podman);
  CHECK(endpoint.url.ends_with("/podman/podman.sock"));
  CHECK_FALSE(find({{"PATH", "/nowhere"}}).starts_podman);
  CHECK(find({{"DOCKER_HOST", endpoint.url}}).starts_podman);
  CHECK_FALSE(find({{"DOCKER_HOST", "unix:///run/other.sock"}}).starts_podman);
}

}  // namespace autopack::engine_endpoint_test
