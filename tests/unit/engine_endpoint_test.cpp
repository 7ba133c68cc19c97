#include "base/digest.hpp"
#include "base/error.hpp"
#include "base/file.hpp"
#include "engine/docker.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

namespace autopack::engine_endpoint_test {

using engine::find_endpoint;

namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

engine::Endpoint find(Variables variables, const std::filesystem::path& socket = "/nowhere.sock") {
  variables.try_emplace("HOME", "/nonexistent");
  return find_endpoint(Environment{std::move(variables)}, socket);
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
  for (const char* wrong : {"ssh://user@host", "npipe:////./pipe/docker_engine", "fd://", "unix://",
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
  CHECK(with("default").url == "unix:///nowhere.sock");
  for (const char* wrong : {"none", "empty", "broken", "far", "../plain"}) {
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

TEST_CASE("a rootless engine's socket replaces a missing default") {
  const TemporaryDirectory directory;
  const Variables variables{{"XDG_RUNTIME_DIR", directory.path().string()}};
  CHECK(find(variables).url == "unix:///nowhere.sock");
  write_file(directory.path() / "docker.sock", "");
  CHECK(find(variables).url == "unix://" + (directory.path() / "docker.sock").string());
  write_file(directory.path() / "system.sock", "");
  CHECK(find(variables, directory.path() / "system.sock").origin == "the default");
}

}  // namespace autopack::engine_endpoint_test
