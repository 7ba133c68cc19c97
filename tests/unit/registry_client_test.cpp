#include "base/error.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "http/retry.hpp"
#include "registry/caller.hpp"
#include "registry/client.hpp"
#include "registry/refusal.hpp"
#include "registry/upload.hpp"
#include "support/loopback_server.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <numeric>

namespace autopack::registry_client_test {

using namespace autopack::registry;
using namespace std::chrono_literals;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::Reply;

namespace {

using Reason = http::TransportError::Reason;

struct Fixture {
  std::unique_ptr<http::Client> client{http::make_client({})};
  int sleeps{0};

  std::unique_ptr<Repository> open(const LoopbackServer& server,
                                   CredentialSource credentials = {}) {
    return make_repository(fmt::format("127.0.0.1:{}", server.port()), "team/app", Access::push,
                           {.client = client.get(),
                            .credentials = std::move(credentials),
                            .sleep = [this](std::chrono::milliseconds) { ++sleeps; }});
  }
};

CredentialSource login(const Credential& credential) {
  return [=](const std::string&) { return std::optional{credential}; };
}

image::Descriptor describe(const std::string& bytes) {
  return {.digest = sha256(bytes), .size = bytes.size()};
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
  }
  return "no error";
}

std::string refusal_text(const std::string& host,
                         const std::string& path,
                         int status,
                         const std::string& body,
                         const std::optional<Credential>& used = {}) {
  const http::Response response{.status = status, .body = body};
  const Refused error = refused({.what = "push",
                                 .method = "PUT",
                                 .url = "https://" + host + "/v2/?state=s3cret",
                                 .host = host,
                                 .path = path,
                                 .response = &response,
                                 .login = used});
  return join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

}  // namespace

TEST_CASE("failures that are retried, and when") {
  struct Row {
    http::Attempt attempt;
    std::optional<std::chrono::milliseconds> wanted;
  };

  // 2026-11-20 12:00:00 UTC
  const std::int64_t now = 1'795'176'000;
  const std::vector<Row> rows{
      {{.number = 1, .status = 503}, 125ms},
      {{.number = 2, .status = 500}, 250ms},
      {{.number = 4, .status = 502}, 1000ms},
      {{.number = 5, .status = 503}, std::nullopt},
      {{.status = 504}, 125ms},
      {{.status = 408}, 125ms},
      {{.status = 429}, 125ms},
      {{.status = 429, .retry_after = "3"}, 3125ms},
      {{.status = 503, .retry_after = "Fri, 20 Nov 2026 12:00:10 GMT"}, 10'125ms},
      {{.status = 503, .retry_after = "Fri, 20 Nov 2026 11:00:00 GMT"}, 125ms},
      {{.status = 429, .retry_after = "3600"}, std::nullopt},
      {{.status = 429, .retry_after = "soon"}, 125ms},
      {{.status = 429, .retry_after = "-5"}, 125ms},
      {{.status = 429, .retry_after = "9223372036854775807"}, 125ms},
      {{.status = 200}, std::nullopt},
      {{.status = 400}, std::nullopt},
      {{.status = 401}, std::nullopt},
      {{.status = 403}, std::nullopt},
      {{.status = 404}, std::nullopt},
      {{.status = 501}, std::nullopt},
      {{.reason = Reason::connect}, 125ms},
      {{.reason = Reason::reset}, 125ms},
      {{.reason = Reason::timeout}, 125ms},
      {{.reason = Reason::resolve}, 125ms},
      {{.reason = Reason::tls}, std::nullopt},
      {{.reason = Reason::protocol}, std::nullopt},
      {{}, std::nullopt},
  };
  for (const auto& row : rows) {
    const auto& attempt = row.attempt;
    CAPTURE(attempt.number);
    CAPTURE(attempt.status.value_or(0));
    CAPTURE(attempt.retry_after);
    CHECK(http::retry_delay(attempt, 0.0, now) == row.wanted);
  }
  CHECK(http::retry_delay({.status = 503}, 0.999, now) > 245ms);
  CHECK(http::retry_delay({.number = 9, .status = 503}, 1.0, now, {.attempts = 10}) == 8000ms);
}

TEST_CASE("challenges are read as servers write them") {
  const auto one = parse_challenges(
      R"(Bearer realm="https://auth.example/token",service="reg, istry",scope="repository:a/b:pull,push",error=invalid)");
  REQUIRE(one.size() == 1);
  CHECK(one[0].scheme == "bearer");
  CHECK(one[0].get("realm") == "https://auth.example/token");
  CHECK(one[0].get("service") == "reg, istry");
  CHECK(one[0].get("scope") == "repository:a/b:pull,push");
  CHECK(one[0].get("error") == "invalid");
  CHECK_FALSE(one[0].get("none"));
  const auto two = parse_challenges(R"(BASIC Realm="a \"b\"", Bearer realm=x)");
  REQUIRE(two.size() == 2);
  CHECK(two[0].get("realm") == "a \"b\"");
  CHECK(two[1].get("realm") == "x");
  for (const char* odd : {"", ",", "=", "a=b", "\"", "Basic =", "Bearer realm=\"", "B \"x\" , ="}) {
    CAPTURE(odd);
    CHECK(parse_challenges(odd).size() <= 2);
  }
  http::Response response{.status = 401,
                          .headers = {{"WWW-Authenticate", "Basic realm=\"r\""},
                                      {"www-authenticate", "Bearer realm=\"t\""}}};
  CHECK(choose_challenge(response)->scheme == "bearer");
  response.headers.pop_back();
  CHECK(choose_challenge(response)->scheme == "basic");
  response.headers = {{"WWW-Authenticate", "Negotiate"}};
  CHECK_FALSE(choose_challenge(response));
}

TEST_CASE("a login goes to no realm that it should not see") {
  const Url outside = *Url::parse("https://registry.example");
  const Url inside = *Url::parse("https://10.0.0.5");
  const Url loopback = *Url::parse("http://127.0.0.1:5000");
  CHECK(check_realm(outside, "https://auth.example/token").host == "auth.example");
  CHECK(check_realm(inside, "https://10.0.0.6/token").host == "10.0.0.6");
  CHECK(check_realm(loopback, "http://127.0.0.1:5001/token").port == 5001);
  CHECK(check_realm(loopback, "https://auth.example/token").scheme == "https");
  for (const char* realm : {"http://auth.example/token",
                            "http://registry.example/token",
                            "http://127.0.0.1/token",
                            "https://127.0.0.1/token",
                            "https://localhost/",
                            "https://10.1.2.3/",
                            "https://172.16.0.1/",
                            "https://192.168.1.1/",
                            "https://169.254.169.254/",
                            "https://[::1]/",
                            "https://[fe80::1]/",
                            "https://[fd00::1]/",
                            "https://[::ffff:10.0.0.1]/",
                            "https://2130706433/",
                            "https://0x7f.1/",
                            "https://0177.0.0.1/",
                            "https://metadata.google.internal/",
                            "https://a.localhost./",
                            "https://me:pw@auth.example/",
                            "file:///etc/passwd",
                            "auth",
                            ""}) {
    CAPTURE(realm);
    CHECK_THROWS_AS(check_realm(outside, realm), Error);
  }
  CHECK_THROWS_AS(check_realm(loopback, "http://auth.example/token"), Error);
  CHECK_FALSE(is_internal_host("8.8.8.8"));
  CHECK_FALSE(is_internal_host("172.32.0.1"));
  CHECK_FALSE(is_internal_host("2001:4860::1"));
}

TEST_CASE("a token goes to the registry that asked for it, and to no other") {
  LoopbackServer tokens{[](const ReceivedRequest&) {
    return Reply{.body = R"({"access_token":"t0ken","expires_in":300})"};
  }};
  LoopbackServer storage{[](const ReceivedRequest&) { return Reply{.status = 201}; }};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    if (request.header("authorization") != "Bearer t0ken") {
      return Reply{
          .status = 401,
          .headers = {{"WWW-Authenticate",
                       fmt::format(R"(Bearer realm="{}/token",service="s")", tokens.url())}}};
    }
    if (request.method == "HEAD") {
      return Reply{.status = 404};
    }
    return Reply{.status = 202, .headers = {{"Location", storage.url() + "/put?sig=1"}}};
  }};
  Fixture fixture;
  const auto repository =
      fixture.open(server, login({.username = "me", .password = Secret{"pw"}, .origin = "a test"}));
  CHECK(repository->push_blob({.known = describe("text"), .open = source_of("text")}, {}).uploaded);
  CHECK(tokens.requests().at(0).header("authorization") == "Basic " + base64_encode("me:pw"));
  REQUIRE(storage.requests().size() == 1);
  CHECK(storage.requests()[0].header("authorization").empty());
  CHECK(storage.requests()[0].body == "text");
  CHECK(storage.requests()[0].target ==
        "/put?sig=1&digest=" + percent_encode(sha256("text").str()));
}

TEST_CASE("a token of the configuration is sent as it is") {
  LoopbackServer server{[](const ReceivedRequest& request) {
    return request.header("authorization") == "Bearer given"
               ? Reply{.body = R"({"tags":["a"]})"}
               : Reply{.status = 401, .headers = {{"WWW-Authenticate", "Basic realm=\"r\""}}};
  }};
  Fixture fixture;
  const auto repository = fixture.open(server, login({.registry_token = Secret{"given"}}));
  CHECK(repository->tags() == std::vector<std::string>{"a"});
}

TEST_CASE("pages of tags are followed, up to a limit") {
  LoopbackServer server{[](const ReceivedRequest& request) {
    if (request.target == "/v2/") {
      return Reply{};
    }
    const bool first = request.target.find("last=") == std::string::npos;
    return Reply{.headers = {{"Link", "</v2/team/app/tags/list?last=b>; rel=\"next\""}},
                 .body = first ? R"({"tags":["a","b"]})" : R"({"tags":null})"};
  }};
  Fixture fixture;
  CHECK(fixture.open(server)->tags() == std::vector<std::string>{"a", "b"});
}

TEST_CASE("an upload goes on where the registry says it broke") {
  const std::size_t size = 6'000'000;
  std::string bytes(size, '\0');
  std::iota(bytes.begin(), bytes.end(), '\0');
  for (const bool size_is_known : {true, false}) {
    CAPTURE(size_is_known);
    std::atomic<int> bodies{0};
    LoopbackServer server{[&](const ReceivedRequest& request) {
      if (request.target == "/v2/") {
        return Reply{};
      }
      if (request.method == "HEAD") {
        return Reply{.status = 404};
      }
      if (request.method == "POST") {
        return Reply{.status = 202, .headers = {{"Location", "/up?state=1"}}};
      }
      if (request.method == "GET") {
        return Reply{.status = 204,
                     .headers = {{"Location", "/up?state=2"}, {"Range", "0-3999999"}}};
      }
      if (!request.body.empty() && bodies++ == 0) {
        return Reply{.drop = true};
      }
      return request.method == "PATCH"
                 ? Reply{.status = 202, .headers = {{"Location", "/up?state=3"}}}
                 : Reply{.status = 201};
    }};
    Fixture fixture;
    Blob blob{.open = source_of(bytes)};
    if (size_is_known) {
      blob.known = describe(bytes);
    }
    std::uint64_t last = 0;
    const auto pushed =
        fixture.open(server)->push_blob(blob, [&](std::uint64_t sent) { last = sent; });
    CHECK(pushed.digest == sha256(bytes));
    CHECK(pushed.size == size);
    CHECK(last == size);
    CHECK(fixture.sleeps == 1);
    const auto requests = server.requests();
    std::string rest;
    for (const auto& request : requests) {
      rest = request.body.empty() ? rest : request.body;
    }
    CHECK(rest == bytes.substr(4'000'000));
    CHECK(requests.back().target.starts_with(size_is_known ? "/up?state=2&digest="
                                                           : "/up?state=3&digest="));
  }
}

TEST_CASE("a resumed upload that the registry refuses starts again") {
  std::string bytes(3'000'000, 'x');
  std::atomic<int> puts{0};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    if (request.method == "POST") {
      return Reply{.status = 202, .headers = {{"Location", "/up"}}};
    }
    if (request.target.starts_with("/up") && request.method == "GET") {
      return Reply{.status = 204, .headers = {{"Range", "0-1999999"}}};
    }
    if (request.method == "PUT") {
      const int count = puts++;
      return count == 0 ? Reply{.drop = true} : Reply{.status = count == 1 ? 416 : 201};
    }
    return Reply{.status = request.method == "HEAD" ? 404 : 200};
  }};
  Fixture fixture;
  CHECK(message_of([&] {
          fixture.open(server)->push_blob({.known = describe(bytes), .open = source_of(bytes)}, {});
        }) == "no error");
  CHECK(puts == 3);
  CHECK(server.requests().back().body.size() == bytes.size());
}

TEST_CASE("a registry that is overloaded is asked again, then given up") {
  std::atomic<int> count{0};
  LoopbackServer server{[&](const ReceivedRequest& request) {
    if (request.target == "/v2/") {
      return Reply{};
    }
    if (count++ < 2) {
      return Reply{.status = 503, .headers = {{"Retry-After", "1"}}};
    }
    return Reply{.status = 429, .body = "slow down"};
  }};
  Fixture fixture;
  const std::string text = message_of([&] {
    fixture.open(server)->push_blob({.known = describe("x"), .open = source_of("x")}, {});
  });
  CHECK(count == 5);
  CHECK(fixture.sleeps == 4);
  CHECK(text.find(": 429") != std::string::npos);
}

TEST_CASE("an upload that was started early is used, restarted, or abandoned") {
  struct Row {
    const char* name;
    int begun;      ///< status of the first POST
    int first_put;  ///< status of the PUT to that upload
    bool push;
    std::vector<std::string> wanted;
  };

  const std::vector<Row> rows{
      {"used", 202, 201, true, {"POST", "PUT /up1"}},
      {"forgotten", 202, 404, true, {"POST", "PUT /up1", "HEAD", "POST", "PUT /up2"}},
      {"refused", 403, 201, true, {"POST", "POST", "PUT /up2"}},
      {"not needed", 202, 201, false, {"POST", "DELETE /up1"}},
      {"refused and not needed", 403, 201, false, {"POST"}},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    std::atomic<int> posts{0};
    LoopbackServer server{[&](const ReceivedRequest& request) {
      if (request.method == "POST") {
        const int number = ++posts;
        return Reply{.status = number == 1 ? row.begun : 202,
                     .headers = {{"Location", fmt::format("/up{}", number)}}};
      }
      if (request.method == "PUT") {
        return Reply{.status = request.target.starts_with("/up1") ? row.first_put : 201};
      }
      return Reply{.status = request.target == "/v2/" ? 200 : 404};
    }};
    Fixture fixture;
    {
      const auto repository = fixture.open(server);
      CHECK_FALSE(repository->head_manifest("v1"));
      repository->begin_uploads(1);
      if (row.push) {
        const Blob blob{.known = describe("x"), .open = source_of("x"), .is_new = true};
        CHECK(repository->push_blob(blob, {}).uploaded);
      }
    }
    std::vector<std::string> seen;
    for (const auto& request : server.requests()) {
      const bool is_upload = request.target.starts_with("/up");
      if (is_upload || request.target.find("/blobs/") != std::string::npos) {
        seen.push_back(request.method +
                       (is_upload ? " " + request.target.substr(0, request.target.find('?')) : ""));
      }
    }
    CHECK(seen == row.wanted);
    CHECK(fixture.sleeps == 0);
  }
}

TEST_CASE("uploads are not led astray") {
  std::string location;
  LoopbackServer server{[&](const ReceivedRequest& request) {
    return request.method == "POST" ? Reply{.status = 202, .headers = {{"Location", location}}}
                                    : Reply{.status = request.method == "HEAD" ? 404 : 200};
  }};
  Fixture fixture;
  for (const char* target : {"http://registry.example/up", "file:///tmp/x", "nonsense", "//a/b"}) {
    location = target;
    const std::string text = message_of([&] {
      fixture.open(server)->push_blob({.known = describe("x"), .open = source_of("x")}, {});
    });
    CAPTURE(target);
    CHECK(text.find("which is not allowed") != std::string::npos);
  }
}

TEST_CASE("manifests are verified") {
  const std::string text = R"({"schemaVersion":2,"mediaType":")" +
                           std::string{image::media_type::docker_manifest} + R"("})";
  LoopbackServer server{[&](const ReceivedRequest& request) {
    const std::string name = request.target.substr(request.target.rfind('/') + 1);
    if (name == "old") {
      return Reply{
          .headers = {{"Content-Type", "application/vnd.docker.distribution.manifest.v1+json"}},
          .body = R"({"schemaVersion":1})"};
    }
    if (name == "lie") {
      return Reply{.headers = {{"Docker-Content-Digest", sha256("other").str()}}, .body = text};
    }
    if (name == "headless" && request.method == "HEAD") {
      return Reply{.status = 403};
    }
    return Reply{
        .headers = {{"Content-Type", std::string{image::media_type::docker_manifest} + "; q=1"}},
        .body = text};
  }};
  Fixture fixture;
  const auto repository = fixture.open(server);
  CHECK(repository->manifest("good")->media_type == image::media_type::docker_manifest);
  CHECK(repository->head_manifest("headless")->digest == sha256(text));
  CHECK(message_of([&] { repository->manifest("old"); }).find("neither an OCI nor a Docker") !=
        std::string::npos);
  CHECK(message_of([&] { repository->manifest("lie"); }).find("its content is") !=
        std::string::npos);
  CHECK_THROWS_AS(repository->manifest(sha256("wrong").str()), Error);
}

TEST_CASE("blobs are verified") {
  LoopbackServer server{[](const ReceivedRequest&) { return Reply{.body = "other"}; }};
  Fixture fixture;
  const auto repository = fixture.open(server);
  CHECK(repository->read_blob(describe("other")) == "other");
  CHECK(message_of([&] { repository->read_blob(describe("ether")); }).find("is damaged") !=
        std::string::npos);
}

TEST_CASE("a refusal of Artifact Registry comes with the command that fixes it") {
  const std::string host = "europe-west4-docker.pkg.dev";
  const auto said = [](const std::string& code, const std::string& message) {
    return R"({"errors":[{"code":")" + code + R"(","message":")" + message + R"("}]})";
  };
  CHECK(refusal_text(host, "p/r/i", 404, said("NAME_UNKNOWN", "Repository 'r' not found")) ==
        "PUT https://europe-west4-docker.pkg.dev/v2/?state=***: 404 NAME_UNKNOWN: Repository 'r' "
        "not found\ngcloud artifacts repositories create r --location=europe-west4 --project=p "
        "--repository-format=docker");
  CHECK(
      refusal_text("docker.europe-west4.rep.pkg.dev", "d.com/p/r/i", 404, said("NAME_UNKNOWN", "x"))
          .ends_with("create r --location=europe-west4 --project=d.com:p "
                     "--repository-format=docker"));
  const std::string denied = refusal_text(
      host, "p/r/i", 403,
      said("DENIED", "Permission 'artifactregistry.repositories.uploadArtifacts' denied"));
  CHECK(denied.find("add-iam-policy-binding r --location=europe-west4 --project=p "
                    "--member=user:ACCOUNT --role=roles/artifactregistry.writer") !=
        std::string::npos);
  CHECK(denied.find("auth configure-docker") == std::string::npos);
  CHECK(refusal_text(host, "p/r/i", 403, said("DENIED", "Unauthenticated request. x"))
            .ends_with("\nno login for `" + host + "` was found: `gcloud auth configure-docker " +
                       host + "`"));
  CHECK(refusal_text(host, "p/r", 400, said("NAME_INVALID", "Missing image name. Pushes"))
            .ends_with("the format is `" + host + "/PROJECT/REPOSITORY/IMAGE`"));
  CHECK(refusal_text(host, "p/r/i", 400, said("DENIED", "tag is immutable"))
            .find("--no-immutable-tags") != std::string::npos);
}

TEST_CASE("a refusal of any registry is reported with its message and the login") {
  const Credential used{.username = "me", .password = Secret{"pw"}, .origin = "helper `x`"};
  CHECK(refusal_text("r.example", "a", 403, R"({"errors":[{"code":"DENIED","message":"no"}]})",
                     used) ==
        "PUT https://r.example/v2/?state=***: 403 DENIED: no\n"
        "the login came from helper `x` (user `me`); `docker login r.example` renews it");
  CHECK(refusal_text("docker.io", "a", 401, "<html>") ==
        "PUT https://docker.io/v2/?state=***: 401\n"
        "no login for `docker.io` was found: `docker login`");
  CHECK(refusal_text("r.example", "a", 500, "plain\x1b text") ==
        "PUT https://r.example/v2/?state=***: 500 plain\\x1b text\n");
  CHECK(refusal_text("r.example", "a", 400, R"({"errors":[1]})") ==
        "PUT https://r.example/v2/?state=***: 400\n");
}

TEST_CASE("ranges of uploads") {
  CHECK(parse_upload_range("0-99") == 100);
  CHECK(parse_upload_range("bytes=0-99") == 100);
  for (const char* odd : {"", "0-0", "5-9", "0-", "x", "0-9x", "bytes=0", "0--1"}) {
    CAPTURE(odd);
    CHECK(parse_upload_range(odd) == 0);
  }
}

}  // namespace autopack::registry_client_test
