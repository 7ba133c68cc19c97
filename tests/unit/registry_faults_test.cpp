#include "base/error.hpp"
#include "base/file.hpp"
#include "base/text.hpp"
#include "registry/client.hpp"
#include "registry/credentials.hpp"
#include "registry/login_files.hpp"
#include "support/loopback_server.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>

namespace autopack::registry_faults_test {

using namespace autopack::registry;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::Reply;

namespace {

/// A registry controlled by the test.
struct Peer {
  LoopbackServer server;
  std::unique_ptr<http::Client> client{http::make_client({})};
  std::atomic<int> sleeps{0};
  CredentialSource credentials{};

  std::string host() const { return fmt::format("127.0.0.1:{}", server.port()); }

  std::unique_ptr<Repository> open() {
    return make_repository(host(), "team/app", Access::push,
                           {.client = client.get(),
                            .credentials = credentials,
                            .sleep = [this](std::chrono::milliseconds) { ++sleeps; }});
  }

  std::string push(const std::string& bytes) {
    const image::Descriptor known{.digest = sha256(bytes), .size = bytes.size()};
    try {
      return open()->push_blob({.known = known, .open = source_of(bytes)}, {}).uploaded ? "sent"
                                                                                        : "there";
    } catch (const Error& error) {
      return error.message() + ": " + join(error.causes(), ": ");
    }
  }
};

Reply begin_at(const char* place) {
  return {.status = 202, .headers = {{"Location", place}}};
}

StoredManifest manifest() {
  const std::string text{"{}"};
  return {.media_type = "application/vnd.oci.image.manifest.v1+json",
          .text = text,
          .digest = sha256(text)};
}

}  // namespace

TEST_CASE("a push ends, however often the registry takes a part and refuses the rest") {
  const std::string bytes(3'000'000, 'x');
  std::atomic<int> puts{0};
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
              if (request.method == "POST") {
                return begin_at("/up");
              }
              if (request.method == "PUT") {
                const bool from_start = request.header("content-range").empty();
                ++puts;
                return from_start ? Reply{.drop = true} : Reply{.status = 416};
              }
              if (request.method == "GET" && request.target == "/up") {
                return Reply{.status = 204, .headers = {{"Range", "0-1999999"}}};
              }
              return Reply{.status = request.method == "HEAD" ? 404 : 200};
            }}};
  CHECK(peer.push(bytes).starts_with("could not push"));
  CHECK(puts <= 12);
  CHECK(peer.sleeps >= puts / 2);
}

TEST_CASE("a registry that gives way a byte at a time does not keep a push alive") {
  const std::string bytes(3'000'000, 'x');
  std::atomic<int> looks{0};
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
              if (request.method == "POST") {
                return begin_at("/up");
              }
              if (request.method == "GET" && request.target == "/up") {
                return Reply{.status = 204,
                             .headers = {{"Range", fmt::format("0-{}", 1'500'000 + looks++)}}};
              }
              return request.method == "PUT" ? Reply{.drop = true} : Reply{.status = 404};
            }}};
  CHECK(peer.push(bytes).starts_with("could not push"));
  CHECK(looks < 12);
}

TEST_CASE("a blob whose last answers were lost is asked for before the push fails") {
  std::atomic<int> puts{0};
  std::atomic<int> last{0};
  std::atomic<bool> other_connection{false};
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
              if (request.method == "POST") {
                return begin_at("/up");
              }
              if (request.method == "PUT") {
                last = request.connection;
                return ++puts < 6 ? Reply{.raw = "no HTTP at all\r\n\r\n"} : Reply{.status = 201};
              }
              other_connection = puts > 0 && request.connection != last;
              return Reply{.status = request.method == "HEAD" && puts == 0 ? 404 : 200};
            }}};
  CHECK(peer.push("content") == "sent");
  CHECK(puts == 1);
  CHECK(other_connection);
}

TEST_CASE("a blob whose existence is unknown is sent again") {
  std::atomic<int> puts{0};
  std::atomic<int> looks{0};
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
              if (request.method == "POST") {
                return begin_at("/up");
              }
              if (request.method == "PUT") {
                // Twice, because libcurl retries once by itself on another connection.
                return ++puts < 3 ? Reply{.drop = true} : Reply{.status = 201};
              }
              return Reply{.status = ++looks > 1 ? 500 : 404};
            }}};
  CHECK(peer.push("content") == "sent");
  CHECK(puts == 3);
  CHECK(looks == 3);
}

TEST_CASE("a blob is sent even if the registry never reports its existence") {
  std::atomic<int> puts{0};
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
              if (request.method == "POST") {
                return begin_at("/up");
              }
              puts += request.method == "PUT" ? 1 : 0;
              return Reply{.status = request.method == "PUT" ? 201 : 500};
            }}};
  CHECK(peer.push("content") == "sent");
  CHECK(puts == 1);
}

TEST_CASE("a registry that is gone within an upload is waited for longer than one never reached") {
  auto server = std::make_unique<LoopbackServer>([](const ReceivedRequest& request) {
    return request.method == "POST" ? begin_at("/up")
                                    : Reply{.status = 404, .drop = request.method == "PUT"};
  });
  const std::string host = fmt::format("127.0.0.1:{}", server->port());
  const std::unique_ptr<http::Client> client = http::make_client({});
  const CredentialSource credentials{};
  const std::string bytes(3'000'000, 'x');
  const image::Descriptor known{.digest = sha256(bytes), .size = bytes.size()};
  const auto pauses = [&] {
    int count = 0;
    const auto end_server = [&](std::chrono::milliseconds) {
      ++count;
      server.reset();
    };
    CHECK_THROWS_AS(
        make_repository(host, "team/app", Access::push,
                        {.client = client.get(), .credentials = credentials, .sleep = end_server})
            ->push_blob({.known = known, .open = source_of(bytes)}, {}),
        http::TransportError);
    return count;
  };
  const int within = pauses();
  CHECK(pauses() < within);
}

TEST_CASE("a manifest whose blobs the registry does not see yet is put again") {
  std::atomic<int> puts{0};
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
              if (request.method == "PUT" && ++puts < 3) {
                return Reply{.status = 400, .body = R"({"errors": [{"code": "DIGEST_INVALID"},
                                          {"code": "MANIFEST_BLOB_UNKNOWN"}]})"};
              }
              return Reply{.status = request.method == "PUT" ? 201 : 200};
            }}};
  peer.open()->put_manifest(manifest(), "1");
  CHECK(puts == 3);
  CHECK(peer.sleeps == 2);
  puts = -100;
  CHECK_THROWS_AS(peer.open()->put_manifest(manifest(), "1"), Refused);
  CHECK(puts < -90);
}

TEST_CASE("a loopback registry that breaks off is not taken for one of TLS for good") {
  std::atomic<int> requests{0};
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest&) {
              return ++requests <= 3 ? Reply{.drop = true} : Reply{.status = 404};
            }}};
  CHECK_FALSE(peer.open()->head_manifest("1"));
}

TEST_CASE("a token is had from where its realm leads, in any of its forms") {
  for (const char* answer : {R"({"token": "T"})", R"({"access_token": "T"})",
                             R"({"token": "", "access_token": "T", "expires_in": 1e300})",
                             R"({"token": null, "access_token": "T", "expires_in": -5})"}) {
    CAPTURE(answer);
    std::string origin;
    std::atomic<bool> leaked{false};
    Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
                const auto login = request.header("authorization");
                if (request.target.starts_with("/moved")) {
                  return Reply{.body = answer};
                }
                if (request.target.starts_with("/token")) {
                  leaked = leaked || login != "Basic " + base64_encode("me:password");
                  return Reply{.status = 302, .headers = {{"Location", "/moved"}}};
                }
                if (login != "Bearer T") {
                  return Reply{
                      .status = 401,
                      .headers = {{"WWW-Authenticate", "Bearer realm=\"" + origin + "/token\""}}};
                }
                return Reply{.status = 404};
              }}};
    origin = peer.server.url();
    peer.credentials = [](const std::string&) {
      return std::optional{Credential{.username = "me", .password = Secret{"password"}}};
    };
    CHECK_FALSE(peer.open()->head_manifest("1"));
    CHECK_FALSE(leaked);
  }
}

TEST_CASE("a refusal of any size is read to a limit, and a head without end not at all") {
  Peer peer{.server = LoopbackServer{[&](const ReceivedRequest& request) {
              return request.target.ends_with("large")
                         ? Reply{.status = 403, .body = std::string{}.append(30'000'000, '[')}
                         : Reply{.status = 200,
                                 .headers = std::vector<http::Header>(
                                     200, {"X-Many", std::string(3000, 'x')})};
            }}};
  const auto refused = peer.client->send({.url = peer.server.url() + "/large"});
  CHECK(refused.status == 403);
  CHECK(refused.body.size() <= 300'000);
  CHECK_THROWS_AS(peer.client->send({.url = peer.server.url() + "/headers"}), http::TransportError);
}

TEST_CASE("logins are found under keys with a path, and in the next file") {
  const TemporaryDirectory home;
  std::map<std::string, std::string, std::less<>> variables{{"HOME", home.path().string()}};
  const auto write = [&](const char* file, const std::string& key, const std::string& user) {
    write_file(home.path() / file, fmt::format(R"({{"auths": {{"{}": {{"auth": "{}"}}}}}})", key,
                                               base64_encode(user + ":password")));
  };
  const auto podman = [&](const std::string& name) {
    const auto login = make_podman_credentials(Environment{variables})(name);
    return login ? login->username : "";
  };
  const auto docker = [&](const std::string& name) {
    const auto login = make_docker_credentials(Environment{variables})(name);
    return login ? login->username : "";
  };

  SUBCASE("podman: the longest key counts, then the next file") {
    variables["XDG_RUNTIME_DIR"] = (home.path() / "run").string();
    variables["XDG_CONFIG_HOME"] = (home.path() / "settings").string();
    write("run/containers/auth.json", "one.example/team", "session");
    write("settings/containers/auth.json", "one.example", "lasting");
    CHECK(podman("one.example/team/app") == "session");
    CHECK(podman("one.example/team") == "session");
    CHECK(podman("one.example/teams/app") == "lasting");
    CHECK(podman("one.example") == "lasting");
    CHECK(podman("two.example/team/app").empty());
  }
  SUBCASE("podman: without a session the directory is the user's own below /run") {
    const auto files = podman_files(Environment{variables}, 1000);
    CHECK(files.front() == "/run/containers/1000/auth.json");
    CHECK(files.back() == home.path() / ".config" / "containers" / "auth.json");
  }
  SUBCASE("docker: a key counts by its host") {
    for (const char* key :
         {"one.example", "https://one.example", "https://one.example/v1/", "one.example/team/app",
          "https://me@one.example/team?x=1", "https://one.example?x=1", "http://ONE.example/"}) {
      CAPTURE(key);
      write(".docker/config.json", key, "me");
      CHECK(docker("one.example/other/app") == "me");
      CHECK(docker("two.example").empty());
    }
  }
}

}  // namespace autopack::registry_faults_test
