#include "base/text.hpp"
#include "registry/client.hpp"
#include "support/loopback_server.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <atomic>

namespace autopack::registry_artifact_test {

using namespace autopack::registry;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::Reply;

namespace {

std::string finding(const std::string& code, const std::string& message) {
  return R"({"errors":[{"code":")" + code + R"(","message":")" + message + R"("}]})";
}

/// Accepts uploads as Artifact Registry does: the whole blob in one PATCH or PUT, without resuming.
class Dialect {
public:
  bool exists{true};
  std::string access_token{"one"};
  int drops{0};
  std::atomic<int> bodies{0};

  LoopbackServer server{[this](const ReceivedRequest& request) { return answer(request); }};

private:
  Reply answer(const ReceivedRequest& request) {
    if (request.target.starts_with("/v2/token")) {
      const bool known = request.header("authorization") ==
                         "Basic " + base64_encode("oauth2accesstoken:" + access_token);
      return known ? Reply{.body = R"({"token":"for-)" + access_token + R"(","expires_in":3600})"}
                   : Reply{.status = 401, .body = finding("UNAUTHORIZED", "who?")};
    }
    if (request.header("authorization") != "Bearer for-" + access_token) {
      return {
          .status = 401,
          .headers = {{"WWW-Authenticate",
                       fmt::format(R"(Bearer realm="{}/v2/token",service="s")", server.url())}}};
    }
    if (request.method == "HEAD" || request.target == "/v2/") {
      return {.status = request.method == "HEAD" ? 404 : 200};
    }
    if (!exists) {
      return {.status = 404, .body = finding("NAME_UNKNOWN", "Repository 'r' not found")};
    }
    if (request.method == "POST") {
      return {.status = 202, .headers = {{"Location", "/up"}}};
    }
    if (!request.header("content-range").empty() || request.method == "GET") {
      return {.status = 400, .body = finding("UNSUPPORTED", "no chunks")};
    }
    if (!request.body.empty() && bodies++ < drops) {
      return {.drop = true};
    }
    return request.method == "PATCH" ? Reply{.status = 202, .headers = {{"Location", "/up"}}}
                                     : Reply{.status = 201};
  }
};

struct Client {
  std::unique_ptr<http::Client> client{http::make_client({})};
  std::string token{"one"};
  int forgotten{0};
  int made{0};

  std::unique_ptr<Repository> open(const LoopbackServer& server, std::function<bool()> make = {}) {
    return make_repository(fmt::format("127.0.0.1:{}", server.port()), "p/r/app", Access::push,
                           {.client = client.get(),
                            .credentials =
                                [this](const std::string&) {
                                  return std::optional{Credential{.username = "oauth2accesstoken",
                                                                  .password = Secret{token},
                                                                  .origin = "a test",
                                                                  .forget = [this] {
                                                                    ++forgotten;
                                                                    token = "two";
                                                                  }}};
                                },
                            .make_missing = std::move(make),
                            .sleep = [](std::chrono::milliseconds) {}});
  }
};

Blob blob_of(const std::string& bytes, bool size_is_known) {
  Blob blob{.open = source_of(bytes)};
  if (size_is_known) {
    blob.known = {.digest = sha256(bytes), .size = bytes.size()};
  }
  return blob;
}

}  // namespace

TEST_CASE("a broken upload to a registry without chunks starts again, whole") {
  const std::string bytes(3'000'000, 'x');
  for (const bool size_is_known : {true, false}) {
    CAPTURE(size_is_known);
    Dialect dialect;
    dialect.drops = 1;
    Client client;
    CHECK(client.open(dialect.server)->push_blob(blob_of(bytes, size_is_known), {}).uploaded);
    CHECK(dialect.bodies == 2);
    for (const auto& request : dialect.server.requests()) {
      CHECK(request.header("content-range").empty());
      CHECK((request.body.empty() || request.body == bytes));
    }
  }
}

TEST_CASE("a token that a registry or its realm refuses is requested again") {
  SUBCASE("by the realm") {
    Dialect dialect;
    dialect.access_token = "two";
    Client client;
    CHECK(client.open(dialect.server)->push_blob(blob_of("x", true), {}).uploaded);
    CHECK(client.forgotten == 1);
  }
  SUBCASE("in the middle of a push") {
    Dialect dialect;
    Client client;
    const auto repository = client.open(dialect.server);
    CHECK(repository->push_blob(blob_of("x", true), {}).uploaded);
    CHECK(client.forgotten == 0);
    dialect.access_token = "two";
    CHECK(repository->push_blob(blob_of("y", false), {}).uploaded);
    CHECK(client.forgotten >= 1);
  }
  SUBCASE("and given up when there is no other") {
    Dialect dialect;
    dialect.access_token = "three";
    Client client;
    CHECK_THROWS_AS(client.open(dialect.server)->push_blob(blob_of("x", true), {}), Refused);
    CHECK(client.forgotten >= 1);
  }
}

TEST_CASE("a missing repository is made once, when the push may do that") {
  Dialect dialect;
  dialect.exists = false;
  Client client;
  SUBCASE("made") {
    const auto repository = client.open(dialect.server, [&] {
      ++client.made;
      dialect.exists = true;
      return true;
    });
    const std::vector<Blob> blobs{blob_of("a", true), blob_of("b", false), blob_of("c", true)};
    push_blobs(*repository, blobs, {});
    CHECK(client.made == 1);
  }
  SUBCASE("made for a question of access too") {
    client.open(dialect.server, [&] { return dialect.exists = true; })->check_access();
    CHECK(dialect.exists);
  }
  SUBCASE("not made") {
    const auto repository = client.open(dialect.server, [&] {
      ++client.made;
      return false;
    });
    try {
      repository->push_blob(blob_of("a", true), {});
      FAIL("nothing was refused");
    } catch (const Refused& error) {
      CHECK(error.code() == "NAME_UNKNOWN");
    }
    CHECK(client.made == 1);
  }
  SUBCASE("nobody to make it") {
    CHECK_THROWS_AS(client.open(dialect.server)->push_blob(blob_of("a", true), {}), Refused);
  }
  SUBCASE("made, and missing all the same") {
    const auto repository = client.open(dialect.server, [&] {
      ++client.made;
      return true;
    });
    CHECK_THROWS_AS(repository->push_blob(blob_of("a", true), {}), Refused);
    CHECK(client.made == 1);
  }
}

}  // namespace autopack::registry_artifact_test
