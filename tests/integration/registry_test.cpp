#include "base/digest.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "registry/certificates.hpp"
#include "registry/client.hpp"
#include "support/cutting_proxy.hpp"
#include "support/loopback_server.hpp"
#include "support/memory_registry.hpp"
#include "support/registry_cases.hpp"
#include "support/registry_process.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

using namespace autopack;
using namespace autopack::registry;
using namespace std::chrono_literals;
using autopack::testing::CuttingProxy;
using autopack::testing::LoopbackServer;
using autopack::testing::ReceivedRequest;
using autopack::testing::RegistryProcess;
using autopack::testing::Reply;
using nlohmann::json;

namespace {

/// Bytes that no compressor or accident would make alike.
std::string noise(std::size_t size, std::uint32_t seed) {
  std::string bytes(size, '\0');
  for (char& byte : bytes) {
    seed = seed * 1664525U + 1013904223U;
    byte = static_cast<char>(seed >> 24U);
  }
  return bytes;
}

image::Descriptor describe(const std::string& bytes) {
  return {.media_type = "application/octet-stream", .digest = sha256(bytes), .size = bytes.size()};
}

Blob known(const std::string& bytes) {
  return {.known = describe(bytes), .open = source_of(bytes)};
}

StoredManifest manifest_of(const std::string& config, const std::vector<std::string>& layers) {
  image::Manifest manifest{.media_type = std::string{image::media_type::oci_manifest},
                           .config = describe(config)};
  manifest.config.media_type = image::media_type::oci_config;
  for (const auto& layer : layers) {
    manifest.layers.push_back(describe(layer));
    manifest.layers.back().media_type = image::media_type::oci_layer;
  }
  const std::string text = image::to_json(manifest);
  return {.media_type = manifest.media_type, .text = text, .digest = sha256(text)};
}

struct Fixture {
  std::unique_ptr<http::Client> client{http::make_client({.user_agent = "registry-test"})};
  int sleeps{0};

  std::unique_ptr<Repository> open(const std::string& host,
                                   const std::string& path,
                                   CredentialSource credentials = {},
                                   http::Tls tls = {}) {
    return make_repository(host, path, Access::push,
                           {.client = client.get(),
                            .credentials = std::move(credentials),
                            .tls = std::move(tls),
                            .sleep = [this](std::chrono::milliseconds) { ++sleeps; }});
  }
};

CredentialSource login(const std::string& user, const std::string& password) {
  return [=](const std::string&) {
    return std::optional{
        Credential{.username = user, .password = Secret{password}, .origin = "a test"}};
  };
}

Refused refusal_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Refused& error) {
    return error;
  }
  throw std::runtime_error{"nothing was refused"};
}

std::string fetched(Repository& repository, const std::string& bytes) {
  std::string result;
  repository.fetch_blob(describe(bytes), [&](std::string_view part) { result += part; });
  return result;
}

void run(const std::vector<std::string>& argv) {
  const auto result = run_process(argv, "");
  REQUIRE_MESSAGE((result && result->status == 0), join(argv, " "));
}

/// A key and a certificate that signs itself.
void make_certificate(const std::filesystem::path& directory) {
  run({"openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
       "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout",
       (directory / "key.pem").string(), "-out", (directory / "cert.pem").string()});
}

/// Gives tokens as the specification of docker-registry says, for `user` with `password`, or for
/// the refresh token `refresh`.
class TokenServer {
public:
  explicit TokenServer(const std::filesystem::path& directory)
      : key_{read_file(directory / "key.pem")},
        certificate_{certificate_text(read_file(directory / "cert.pem"))},
        server_{[this](const ReceivedRequest& request) { return answer(request); }} {}

  std::string realm() const { return server_.url() + "/token"; }

  std::vector<ReceivedRequest> requests() const { return server_.requests(); }

  int lifetime{300};

private:
  static std::string certificate_text(const std::string& pem) {
    std::string text;
    for (const auto& line : split(pem, '\n')) {
      text += line.starts_with('-') ? "" : line;
    }
    return text;
  }

  Reply answer(const ReceivedRequest& request) const {
    const bool basic = request.header("authorization") == "Basic " + base64_encode("user:password");
    const bool refresh =
        request.method == "POST" && request.body.find("refresh_token=refresh") != std::string::npos;
    if (!basic && !refresh) {
      return {.status = 401, .body = R"({"errors":[{"code":"UNAUTHORIZED","message":"who?"}]})"};
    }
    json access = json::array();
    const std::string text = request.method == "POST" ? request.body : request.target;
    for (const auto& pair : split(text.substr(text.find('?') + 1), '&')) {
      if (!pair.starts_with("scope=")) {
        continue;
      }
      const auto parts = split(percent_decode(pair.substr(6)), ':');
      access.push_back(
          {{"type", parts.at(0)}, {"name", parts.at(1)}, {"actions", split(parts.at(2), ',')}});
    }
    return {.body = json{{"token", token(access)}, {"expires_in", lifetime}}.dump()};
  }

  std::string token(const json& access) const {
    const json header{{"typ", "JWT"}, {"alg", "RS256"}, {"x5c", {certificate_}}};
    const std::int64_t now = std::time(nullptr);
    const json claims{{"iss", "test-issuer"},
                      {"sub", "user"},
                      {"aud", "test-registry"},
                      {"exp", now + lifetime},
                      {"nbf", now - 10},
                      {"iat", now},
                      {"jti", "1"},
                      {"access", access}};
    const std::string text =
        base64url_encode(header.dump()) + "." + base64url_encode(claims.dump());
    return text + "." + base64url_encode(rs256_sign(key_, text));
  }

  std::string key_;
  std::string certificate_;
  LoopbackServer server_;
};

}  // namespace

TEST_CASE("an image goes to a registry and comes back") {
  const RegistryProcess registry;
  Fixture fixture;
  const auto repository = fixture.open(registry.host(), "team/app");
  const std::string config = R"({"os":"linux","architecture":"amd64"})";
  const std::string layer = noise(300'000, 1);
  const std::string large = noise(20'000'000, 2);

  CHECK_FALSE(repository->head_manifest("1"));
  CHECK_FALSE(repository->manifest(sha256("x").str()));
  CHECK(repository->tags().empty());
  CHECK_FALSE(repository->has_blob(sha256(layer), layer.size()));

  std::vector<std::uint64_t> sent(3);
  const std::vector<Blob> blobs{known(config), known(layer), Blob{.open = source_of(large)}};
  const auto pushed = push_blobs(*repository, blobs,
                                 [&](std::size_t i, std::uint64_t bytes) { sent.at(i) = bytes; });
  CHECK(sent == std::vector<std::uint64_t>{config.size(), layer.size(), large.size()});
  CHECK(pushed.at(2).digest == sha256(large));
  CHECK(pushed.at(2).size == large.size());
  CHECK(pushed.at(1).uploaded);
  CHECK(repository->has_blob(sha256(large), large.size()));
  CHECK_FALSE(repository->push_blob(known(layer), {}).uploaded);
  CHECK(repository->read_blob(describe(config)) == config);
  CHECK(fetched(*repository, large) == large);

  const auto manifest = manifest_of(config, {layer, large});
  repository->put_manifest(manifest, "1");
  repository->put_manifest(manifest, "2");
  const auto head = repository->head_manifest("1");
  REQUIRE(head);
  CHECK(head->digest == manifest.digest);
  CHECK(head->size == manifest.text.size());
  CHECK(repository->manifest("1")->text == manifest.text);
  CHECK(repository->manifest(manifest.digest.str())->media_type == manifest.media_type);
  auto tags = repository->tags();
  std::sort(tags.begin(), tags.end());
  CHECK(tags == std::vector<std::string>{"1", "2"});
  CHECK(fixture.sleeps == 0);
}

TEST_CASE("the image of a platform is found in an index") {
  const RegistryProcess registry;
  Fixture fixture;
  const auto repository = fixture.open(registry.host(), "team/app");
  json entries = json::array();
  for (const std::string architecture : {"arm64", "amd64"}) {
    const std::string config = R"({"os":"linux","architecture":")" + architecture + R"("})";
    const auto manifest = manifest_of(config, {});
    repository->push_blob(known(config), {});
    repository->put_manifest(manifest, std::nullopt);
    entries.push_back({{"mediaType", manifest.media_type},
                       {"digest", manifest.digest.str()},
                       {"size", manifest.text.size()},
                       {"platform", {{"os", "linux"}, {"architecture", architecture}}}});
  }
  const std::string text = json{
      {"schemaVersion", 2},
      {"mediaType", image::media_type::oci_index},
      {"manifests", entries}}.dump();
  repository->put_manifest({.media_type = std::string{image::media_type::oci_index},
                            .text = text,
                            .digest = sha256(text)},
                           "multi");
  CHECK(repository->image_manifest("multi", "linux/amd64")->digest.str() ==
        entries[1]["digest"].get<std::string>());
  CHECK(repository->image_manifest("multi", "linux/arm64/v8")->digest.str() ==
        entries[0]["digest"].get<std::string>());
  CHECK_THROWS_AS(repository->image_manifest("multi", "linux/s390x"), Error);
  CHECK_FALSE(repository->image_manifest("none", "linux/amd64"));
}

TEST_CASE("a blob is mounted, else sent; and copied to another registry") {
  const RegistryProcess registry;
  const RegistryProcess other;
  Fixture fixture;
  const std::string layer = noise(5'000'000, 3);
  const auto first = fixture.open(registry.host(), "first");
  first->push_blob(known(layer), {});
  const auto second = fixture.open(registry.host(), "second");
  Blob mounted = known(layer);
  mounted.mount_from = "first";
  mounted.open = []() -> Reader { throw std::logic_error{"it was not mounted"}; };
  CHECK_FALSE(second->push_blob(mounted, {}).uploaded);
  CHECK(second->has_blob(sha256(layer), layer.size()));

  Blob elsewhere = known(layer);
  elsewhere.mount_from = "nowhere";
  CHECK(fixture.open(registry.host(), "third")->push_blob(elsewhere, {}).size == layer.size());

  const auto target = fixture.open(other.host(), "copy");
  const Blob copied{.known = describe(layer), .open = blob_source(*first, describe(layer))};
  CHECK(target->push_blob(copied, {}).uploaded);
  CHECK(fetched(*target, layer) == layer);
  // A copy that is given up leaves no thread behind.
  std::array<char, 10> few{};
  CHECK(blob_source(*first, describe(layer))()(few.data(), few.size()) == few.size());
}

TEST_CASE("an image and an index are copied to another registry byte for byte") {
  const RegistryProcess registry;
  const RegistryProcess other;
  Fixture fixture;
  const std::string config = R"({"os":"linux","architecture":"amd64"})";
  const std::string layer = noise(3'000'000, 11);
  const auto from = fixture.open(registry.host(), "team/app");
  from->push_blob(known(config), {});
  from->push_blob(known(layer), {});
  const auto manifest = manifest_of(config, {layer, layer});
  from->put_manifest(manifest, "1");
  const std::string text = json{{"schemaVersion", 2},
                                {"mediaType", image::media_type::oci_index},
                                {"manifests",
                                 {{{"mediaType", manifest.media_type},
                                   {"digest", manifest.digest.str()},
                                   {"size", manifest.text.size()}}}}}
                               .dump();
  from->put_manifest({.media_type = std::string{image::media_type::oci_index},
                      .text = text,
                      .digest = sha256(text)},
                     "multi");

  const auto to = fixture.open(other.host(), "copy");
  CHECK(copy_image(*from, *to, manifest.digest, "there", std::nullopt) ==
        layer.size() + config.size());
  CHECK(to->manifest("there")->text == manifest.text);
  CHECK(fetched(*to, layer) == layer);
  CHECK(copy_image(*from, *to, manifest.digest, std::nullopt, std::nullopt) == 0);

  const auto third = fixture.open(other.host(), "third");
  CHECK(copy_image(*from, *third, sha256(text), std::nullopt, std::nullopt) ==
        layer.size() + config.size());
  CHECK(third->manifest(sha256(text).str())->text == text);
  CHECK(third->manifest(manifest.digest.str())->text == manifest.text);

  const auto beside = fixture.open(registry.host(), "team/beside");
  CHECK(copy_image(*from, *beside, manifest.digest, "1", "team/app") == 0);
  CHECK(fetched(*beside, layer) == layer);
  CHECK_THROWS_WITH_AS(copy_image(*from, *to, sha256("none"), "x", std::nullopt),
                       doctest::Contains("no longer in its registry"), Error);
  CHECK_FALSE(to->head_manifest("x"));
}

TEST_CASE("content that is not what was announced is refused") {
  const RegistryProcess registry;
  Fixture fixture;
  const auto repository = fixture.open(registry.host(), "app");
  Blob wrong = known("some bytes");
  wrong.open = source_of("other byte");
  CHECK(refusal_of([&] { repository->push_blob(wrong, {}); }).code() == "DIGEST_INVALID");
  wrong.open = source_of("short");
  CHECK_THROWS_WITH_AS(repository->push_blob(wrong, {}),
                       "the content of a layer changed while it was sent", Error);
  repository->push_blob(known("bytes"), {});
  auto longer = describe("bytes");
  longer.size = 6;
  CHECK_THROWS_AS(repository->read_blob(longer), Error);
  const auto missing = manifest_of("no such configuration", {});
  const Refused refused = refusal_of([&] { repository->put_manifest(missing, "t"); });
  CHECK(refused.code() == "MANIFEST_BLOB_UNKNOWN");
  CHECK(refused.message() == fmt::format("could not push `{}/app:t`", registry.host()));
  CHECK(refused.causes().at(0).starts_with(fmt::format(
      "PUT http://{}/v2/app/manifests/t: 400 MANIFEST_BLOB_UNKNOWN: ", registry.host())));
}

TEST_CASE("a registry with passwords takes the right one only") {
  const auto line = run_process({"htpasswd", "-nbB", "-C", "4", "me", "s3cret"}, "");
  REQUIRE(line);
  const RegistryProcess registry{{.htpasswd = line->output}};
  Fixture fixture;
  const Refused anonymous =
      refusal_of([&] { fixture.open(registry.host(), "app")->check_access(); });
  CHECK(anonymous.status() == 401);
  CHECK(anonymous.hints() ==
        std::vector<std::string>{
            fmt::format("no login for `{0}` was found: `docker login {0}`", registry.host())});
  const Refused wrong = refusal_of(
      [&] { fixture.open(registry.host(), "app", login("me", "guess"))->check_access(); });
  CHECK(wrong.hints() == std::vector<std::string>{fmt::format(
                             "the login came from a test (user `me`); `docker login {}` renews it",
                             registry.host())});
  const auto repository = fixture.open(registry.host(), "app", login("me", "s3cret"));
  repository->check_access();
  CHECK(repository->push_blob(known("text"), {}).uploaded);
  CHECK(repository->push_blob(Blob{.open = source_of("streamed")}, {}).uploaded);
}

TEST_CASE("a registry with tokens is served through its realm") {
  const TemporaryDirectory directory;
  make_certificate(directory.path());
  TokenServer tokens{directory.path()};
  const RegistryProcess registry{
      {.token_realm = tokens.realm(), .token_certificates = directory.path() / "cert.pem"}};
  Fixture fixture;
  SUBCASE("with a password, one token for all") {
    const auto repository = fixture.open(registry.host(), "team/app", login("user", "password"));
    CHECK(repository->push_blob(known("text"), {}).uploaded);
    CHECK(repository->push_blob(Blob{.open = source_of("streamed")}, {}).uploaded);
    const auto requests = tokens.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].target ==
          "/token?service=test-registry&scope=repository%3Ateam%2Fapp%3Apull%2Cpush");
    repository->check_access();
  }
  SUBCASE("a mount asks for the other repository too") {
    const auto first = fixture.open(registry.host(), "first", login("user", "password"));
    first->push_blob(known("text"), {});
    const auto second = fixture.open(registry.host(), "second", login("user", "password"));
    Blob blob = known("text");
    blob.mount_from = "first";
    CHECK_FALSE(second->push_blob(blob, {}).uploaded);
    CHECK(tokens.requests().back().target.ends_with("&scope=repository%3Afirst%3Apull"));
  }
  SUBCASE("a token that ended is renewed") {
    tokens.lifetime = 1;
    const auto repository = fixture.open(registry.host(), "app", login("user", "password"));
    CHECK(repository->push_blob(known("one"), {}).uploaded);
    const auto count = tokens.requests().size();
    CHECK(repository->push_blob(known("two"), {}).uploaded);
    CHECK(tokens.requests().size() > count);
  }
  SUBCASE("with an identity token") {
    const CredentialSource source = [](const std::string&) {
      return std::optional{Credential{.identity_token = Secret{"refresh"}, .origin = "a test"}};
    };
    CHECK(fixture.open(registry.host(), "app", source)->push_blob(known("x"), {}).uploaded);
    CHECK(tokens.requests().at(0).method == "POST");
  }
  SUBCASE("a refusal names the token server and the login") {
    const Refused refused = refusal_of([&] {
      fixture.open(registry.host(), "app", login("user", "guess"))->push_blob(known("x"), {});
    });
    CHECK(refused.message() == fmt::format("could not sign in to `{}`", registry.host()));
    CHECK(refused.causes().at(0).find("401 UNAUTHORIZED: who?") != std::string::npos);
    CHECK(refused.hints().at(0).starts_with("the login came from a test (user `user`)"));
  }
}

TEST_CASE("a registry with TLS is trusted by its certificate only") {
  const TemporaryDirectory directory;
  make_certificate(directory.path());
  const RegistryProcess registry{
      {.certificate = directory.path() / "cert.pem", .key = directory.path() / "key.pem"}};
  Fixture fixture;
  const auto trusted =
      fixture.open(registry.host(), "app", {}, {.ca_file = directory.path() / "cert.pem"});
  CHECK(trusted->push_blob(known(noise(2'000'000, 4)), {}).uploaded);
  CHECK(fetched(*trusted, noise(2'000'000, 4)) == noise(2'000'000, 4));
  try {
    fixture.open(registry.host(), "app")->check_access();
    FAIL("an unknown certificate was accepted");
  } catch (const http::TransportError& error) {
    CHECK(error.reason() == http::TransportError::Reason::tls);
  }
}

TEST_CASE("a registry with TLS and passwords is trusted as Docker's directories say") {
  const TemporaryDirectory directory;
  make_certificate(directory.path());
  const auto line = run_process({"htpasswd", "-nbB", "-C", "4", "me", "s3cret"}, "");
  REQUIRE(line);
  const RegistryProcess registry{{.htpasswd = line->output,
                                  .certificate = directory.path() / "cert.pem",
                                  .key = directory.path() / "key.pem"}};
  const auto certificates = directory.path() / "certs.d";
  Fixture fixture;
  const auto open = [&] {
    return fixture.open(registry.host(), "app", login("me", "s3cret"),
                        find_certificates({certificates}, registry.host()));
  };
  CHECK_THROWS_AS(open()->check_access(), http::TransportError);
  std::filesystem::create_directories(certificates / registry.host());
  std::filesystem::copy(directory.path() / "cert.pem", certificates / registry.host() / "ca.crt");
  CHECK(open()->push_blob(known("text"), {}).uploaded);
}

TEST_CASE("a registry that wants a client certificate is shown that of Podman's directory") {
  const TemporaryDirectory directory;
  const auto& root = directory.path();
  make_certificate(root);
  const RegistryProcess registry{{.certificate = root / "cert.pem",
                                  .key = root / "key.pem",
                                  .client_authority = root / "cert.pem"}};
  const Environment environment{{{"XDG_CONFIG_HOME", root.string()}}};
  const auto certificates = root / "containers" / "certs.d" / registry.host();
  std::filesystem::create_directories(certificates);
  std::filesystem::copy(root / "cert.pem", certificates / "ca.crt");
  Fixture fixture;
  const auto open = [&] {
    return fixture.open(registry.host(), "app", {},
                        find_certificates(certificate_directories(environment), registry.host()));
  };
  CHECK_THROWS_AS(open()->check_access(), http::TransportError);
  run({"openssl", "req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=client", "-keyout",
       (certificates / "client.key").string(), "-out", (root / "client.csr").string()});
  run({"openssl", "x509", "-req", "-days", "2", "-in", (root / "client.csr").string(), "-CA",
       (root / "cert.pem").string(), "-CAkey", (root / "key.pem").string(), "-CAcreateserial",
       "-out", (certificates / "client.cert").string()});
  CHECK(open()->push_blob(known("text"), {}).uploaded);
  CHECK(fetched(*open(), "text") == "text");
}

TEST_CASE("a layer whose upload breaks starts again, alone") {
  // This registry forgets an upload that broke within a request; see the unit tests for others.
  const RegistryProcess registry;
  const std::string small = noise(1'000'000, 7);
  const std::string layer = noise(30'000'000, 5);
  for (const bool size_is_known : {true, false}) {
    const CuttingProxy proxy{registry.port(), {12'000'000, 20'000'000}, {}};
    Fixture fixture;
    const std::string path = size_is_known ? "known" : "streamed";
    const auto repository = fixture.open(fmt::format("127.0.0.1:{}", proxy.port()), path);
    CHECK(repository->push_blob(known(small), {}).uploaded);
    const auto pushed =
        repository->push_blob(size_is_known ? known(layer) : Blob{.open = source_of(layer)}, {});
    CHECK(pushed.uploaded);
    CHECK(pushed.digest == sha256(layer));
    CHECK(fixture.sleeps == 2);
    CHECK(proxy.forward() < 51'000'000);
    CHECK(fetched(*fixture.open(registry.host(), path), layer) == layer);
  }
}

TEST_CASE("a download that breaks goes on where it was") {
  const RegistryProcess registry;
  const std::string layer = noise(30'000'000, 6);
  Fixture fixture;
  fixture.open(registry.host(), "app")->push_blob(known(layer), {});
  const CuttingProxy proxy{registry.port(), {}, {10'000'000, 25'000'000}};
  const auto repository = fixture.open(fmt::format("127.0.0.1:{}", proxy.port()), "app");
  CHECK(fetched(*repository, layer) == layer);
  CHECK(fixture.sleeps == 2);
  CHECK(proxy.backward() < 33'000'000);
}

TEST_CASE("a registry that is away for a moment is waited for") {
  RegistryProcess registry;
  const auto client = http::make_client({});
  registry.stop();
  int sleeps = 0;
  const auto repository =
      make_repository(registry.host(), "app", Access::push,
                      {.client = client.get(), .sleep = [&](std::chrono::milliseconds) {
                         if (++sleeps == 2) {
                           registry.start();
                         }
                       }});
  CHECK(repository->push_blob(known("text"), {}).uploaded);
  CHECK(sleeps == 2);
}

TEST_CASE("a registry that stays away is an error soon") {
  RegistryProcess registry;
  registry.stop();
  Fixture fixture;
  CHECK_THROWS_AS(fixture.open(registry.host(), "app")->push_blob(known("text"), {}),
                  http::TransportError);
  CHECK(fixture.sleeps == 4);
}

TEST_CASE("the registry in memory answers as the real one does") {
  const RegistryProcess real;
  const auto client = http::make_client({.user_agent = "registry-test"});
  testing::MemoryRegistry memory;
  CHECK(join(testing::registry_transcript(*client, real.host()), "\n") ==
        join(testing::registry_transcript(memory, "127.0.0.1:5000"), "\n"));
}
