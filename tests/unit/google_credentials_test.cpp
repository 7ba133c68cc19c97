#include "support/credentials_fixture.hpp"

namespace autopack::google_credentials_test {

using namespace autopack::testing;
using nlohmann::json;
using Reason = http::TransportError::Reason;
using Fixture = CredentialsFixture;

TEST_CASE("an access token file takes precedence and is read again after a refusal") {
  Fixture fixture;
  const auto path = fixture.write("token", "ya29.a\n");
  fixture.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/absent";
  fixture.variables["GOOGLE_CLOUD_QUOTA_PROJECT"] = "q";
  const auto source = fixture.find(path);
  CHECK(source->token().token.reveal() == "ya29.a");
  write_file(path, "ya29.b");
  CHECK(source->token().token.reveal() == "ya29.a");
  source->expire();
  CHECK(source->token().token.reveal() == "ya29.b");
  CHECK(source->quota_project() == "q");
  CHECK_FALSE(source->project());
}

TEST_CASE("a service account signs an assertion for a token") {
  Fixture fixture{{answer(200, R"({"access_token": "t1", "expires_in": "3600"})"),
                   answer(200, R"({"access_token": "t2", "expires_in": 3600})")}};
  const auto source = fixture.find_file(service_account("http://127.0.0.1:1/token"));
  CHECK(source->project() == "key-project");
  CHECK_FALSE(source->quota_project());
  CHECK(fixture.client.requests.empty());
  const auto token = source->token();
  CHECK(token.token.reveal() == "t1");
  CHECK(token.expires_at == 1'003'600);
  fixture.now += 3600 - 225;
  CHECK(source->token().token.reveal() == "t1");
  fixture.now += 1;
  CHECK(source->token().token.reveal() == "t2");

  CHECK(fixture.client.requests[0].url == "http://127.0.0.1:1/token");
  auto form = form_of(fixture.client.requests[0]);
  CHECK(form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer");
  const auto parts = split(form["assertion"], '.');
  REQUIRE(parts.size() == 3);
  CHECK(autopack::parse_json(*base64_decode(parts[0])) ==
        json{{"alg", "RS256"}, {"typ", "JWT"}, {"kid", "key-1"}});
  CHECK(autopack::parse_json(*base64_decode(parts[1])) ==
        json{{"iss", "robot@p.iam.gserviceaccount.com"},
             {"aud", "https://oauth2.googleapis.com/token"},
             {"scope", "https://www.googleapis.com/auth/cloud-platform"},
             {"iat", 1'000'000},
             {"exp", 1'003'600}});
  const auto key = fixture.write("key.pem", private_key());
  const auto signature = fixture.write("signature", *base64_decode(parts[2]));
  const auto verified = run_process(
      {"openssl", "dgst", "-sha256", "-prverify", key.string(), "-signature", signature.string()},
      parts[0] + "." + parts[1]);
  REQUIRE(verified);
  CHECK(verified->status == 0);
}

TEST_CASE("a service account signs its own tokens where gcloud would") {
  Fixture fixture;
  fixture.variables["CLOUDSDK_AUTH_SERVICE_ACCOUNT_USE_SELF_SIGNED_JWT"] = "True";
  fixture.token_directory = fixture.directory.path() / "tokens";
  const auto source = fixture.find_file(service_account());
  const auto token = source->token();
  CHECK(fixture.client.requests.empty());
  CHECK(token.expires_at == 1'003'600);
  CHECK_FALSE(std::filesystem::exists(*fixture.token_directory));
  const auto parts = split(token.token.reveal(), '.');
  REQUIRE(parts.size() == 3);
  CHECK(parse_json(*base64_decode(parts[1])) ==
        json{{"iss", "robot@p.iam.gserviceaccount.com"},
             {"sub", "robot@p.iam.gserviceaccount.com"},
             {"scope", "https://www.googleapis.com/auth/cloud-platform"},
             {"iat", 1'000'000},
             {"exp", 1'003'600}});
  fixture.now += 3600;
  CHECK(source->token().expires_at == 1'007'200);

  Fixture by_configuration;
  by_configuration.configuration.properties["auth/service_account_use_self_signed_jwt"] = "1";
  CHECK_FALSE(by_configuration.find_file(service_account())->token().token.empty());
}

TEST_CASE("the selected source is reported, but not its token") {
  Fixture fixture{{answer(200, R"({"access_token": "s3cr3t-value", "expires_in": 3600})")}};
  const auto source = fixture.find_file(authorized_user());
  static_cast<void>(source->token());
  REQUIRE(fixture.reporter.details.size() == 1);
  const auto path = (fixture.directory.path() / "adc.json").string();
  CHECK(fixture.reporter.details[0] ==
        "credentials: user credentials `" + path +
            "`, named by `GOOGLE_APPLICATION_CREDENTIALS`, quota project quota");
}

TEST_CASE("a quota project that would break a header is refused") {
  Fixture fixture;
  fixture.billing_project = "p\r\nX-Evil: 1";
  static_cast<void>(
      failure_of([&] { return fixture.find_file(authorized_user()); }, "is not a project id"));
}

TEST_CASE("an authorized user refreshes, from gcloud's directory too") {
  Fixture fixture{{answer(200, R"({"access_token": "t1", "expires_in": 3600})")}};
  fixture.write("application_default_credentials.json", authorized_user());
  fixture.variables["CLOUDSDK_CONFIG"] = fixture.directory.path().string();
  const auto source = fixture.find();
  CHECK(source->token().token.reveal() == "t1");
  CHECK(source->quota_project() == "quota");
  CHECK(fixture.client.requests[0].url == "https://oauth2.googleapis.com/token");
  CHECK(form_of(fixture.client.requests[0]) ==
        std::map<std::string, std::string>{{"grant_type", "refresh_token"},
                                           {"client_id", "id"},
                                           {"client_secret", secret},
                                           {"refresh_token", secret}});
  fixture.variables["CLOUDSDK_AUTH_TOKEN_HOST"] = "http://localhost:2/token";
  fixture.variables["GOOGLE_CLOUD_QUOTA_PROJECT"] = "other";
  CHECK(fixture.find()->quota_project() == "other");
  fixture.billing_project = "payer";
  CHECK(fixture.find()->quota_project() == "payer");
}

TEST_CASE("a token endpoint that is busy or away is asked again") {
  using namespace std::chrono_literals;
  Fixture fixture{{answer(503, ""), Reason::reset,
                   answer(200, R"({"access_token": "t", "expires_in": 3600})")}};
  const auto source = fixture.find_file(authorized_user());
  CHECK(source->token().token.reveal() == "t");
  REQUIRE(fixture.waits.size() == 2);
  CHECK(fixture.waits[0] >= 1s);
  CHECK(fixture.waits[0] < 2s);
  CHECK(fixture.waits[1] >= 2s);
  CHECK(fixture.waits[1] < 4s);

  Fixture busy{{answer(500, ""), answer(429, ""), answer(503, "")}};
  CHECK_THROWS_AS(busy.find_file(authorized_user())->token(), Error);
  CHECK(busy.client.requests.size() == 3);

  Fixture insecure{{Reason::tls}};
  CHECK_THROWS_AS(insecure.find_file(authorized_user())->token(), http::TransportError);
}

TEST_CASE("a token endpoint that refuses is quoted without a secret") {
  struct Case {
    http::Response response{};
    const char* fragment{};
  };

  for (
      const auto& [response, fragment] : {
          Case{
              answer(
                  400,
                  R"({"error": "invalid_grant", "error_description": "Bad Request", "error_subtype": "invalid_rapt"})"),
              "gcloud auth application-default login"},
          Case{answer(
                   400,
                   R"({"error": "invalid_grant", "error_description": "Token has been revoked."})"),
               "400 invalid_grant: Token has been revoked."},
          Case{answer(401, R"({"error": "invalid_client"})"), "401 invalid_client"},
          Case{
              answer(
                  400,
                  R"({"error": "invalid_grant", "error_description": "reauth related error", "error_subtype": "rapt_required"})"),
              "reauthentication is needed"},
          Case{
              answer(400,
                     R"({"error": "bad", "error_description": "what is s3cr3t-value doing here"})"),
              "400 bad: what is *** doing here"},
          Case{
              answer(
                  403,
                  R"({"error": {"code": 403, "message": "The caller may not", "status": "PERMISSION_DENIED"}})"),
              "403 PERMISSION_DENIED: The caller may not"},
          Case{answer(400, "<html>"), "POST https://oauth2.googleapis.com/token: 400"},
          Case{answer(200, "{}"), "the response has no access token"},
          Case{answer(200, R"({"access_token": ["x"]})"), "the response has no access token"},
          Case{
              answer(
                  400,
                  R"({"error": "invalid_grant", "error_description": "Invalid JWT: Token must be a short-lived token"})"),
              "date -u"},
      }) {
    Fixture fixture{{response}};
    const auto source = fixture.find_file(authorized_user());
    const auto error = failure_of([&] { return source->token(); }, fragment);
    CHECK(error.kind() == ErrorKind::remote);
    CHECK(all_text(error).find("adc.json`, named by `GOOGLE_APPLICATION_CREDENTIALS`") !=
          std::string::npos);
  }
}

TEST_CASE("credentials files that cannot be used") {
  struct Case {
    std::string text{};
    std::string fragment{};
  };

  for (const auto& [text, fragment] : {
           Case{"", "is not JSON"},
           Case{std::string{R"({"private_key": ")"} + secret, "is not JSON"},
           Case{"[]", "is not JSON"},
           Case{"{}", "has no `type`"},
           Case{R"({"type": "gdch_service_account"})", "is of type `gdch_service_account`"},
           Case{with(authorized_user(), "universe_domain", "example.cloud"),
                "is for the universe `example.cloud`"},
           Case{R"({"type": 5})", "has no `type`"},
           Case{without(service_account(), "client_email"), "has no `client_email`"},
           Case{without(service_account(), "private_key"), "has no `private_key`"},
           Case{without(service_account(), "token_uri"), "has no `token_uri`"},
           Case{with(service_account(), "private_key", secret), "not an RSA key"},
           Case{with(service_account(), "token_uri", "http://example.com/token"),
                "is not an https URL of Google's: `http://example.com/token`"},
           Case{with(service_account(), "token_uri", "https://oauth2.googleapis.com.evil.org/t"),
                "is not an https URL of Google's"},
           Case{with(service_account(), "token_uri", "https://user:pw@evil.org/t?k=v"),
                "`https://evil.org/t?k=***`"},
           Case{with(service_account(), "token_uri", "https://oauth2.googleapis.com/\r\nX: y"),
                "is not an https URL of Google's"},
           Case{with(service_account(), "token_uri", "ftp://127.0.0.1/"), "is not an https URL"},
           Case{with(service_account(), "private_key", json::array({secret})),
                "has no `private_key`"},
           Case{without(authorized_user(), "refresh_token"), "has no `refresh_token`"},
           Case{without(authorized_user(), "client_id"), "has no `client_id`"},
       }) {
    Fixture fixture;
    const auto& content = text;
    const auto error = failure_of([&] { return fixture.find_file(content); }, fragment);
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(all_text(error).find("adc.json") != std::string::npos);
    CHECK(all_text(error).find("`GOOGLE_APPLICATION_CREDENTIALS`") != std::string::npos);
  }
}

TEST_CASE("an encrypted key is refused instead of asking for its password") {
  const auto encrypted =
      run_process({"openssl", "pkcs8", "-topk8", "-passout", "pass:x"}, private_key());
  REQUIRE(encrypted);
  REQUIRE(encrypted->status == 0);
  auto content = autopack::parse_json(service_account());
  content["private_key"] = encrypted->output;
  Fixture fixture;
  CHECK_THROWS_AS(static_cast<void>(fixture.find_file(content.dump())), Error);
}

TEST_CASE("credentials that are not there") {
  Fixture fixture;
  fixture.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/absent.json";
  CHECK_THROWS_WITH(static_cast<void>(fixture.find()),
                    "credentials file `/absent.json`, named by `GOOGLE_APPLICATION_CREDENTIALS`, "
                    "does not exist");
  CHECK_THROWS_WITH(static_cast<void>(fixture.find("/absent")),
                    "access token file `/absent`, named by `--access-token-file`, does not exist");
  const auto empty = fixture.write("empty", " \n");
  CHECK_THROWS_AS(static_cast<void>(fixture.find(empty)), Error);
  const auto two = fixture.write("two", "a b");
  CHECK_THROWS_AS(static_cast<void>(fixture.find(two)), Error);
  fixture.variables.erase("GOOGLE_APPLICATION_CREDENTIALS");
  CHECK(
      failure_of([&] { return fixture.find(); }, "gcloud auth application-default login").kind() ==
      ErrorKind::environment);
  fixture.variables["CLOUDSDK_AUTH_TOKEN_HOST"] = "http://example.com/";
  CHECK_THROWS_AS(static_cast<void>(fixture.find_file(authorized_user())), Error);
}

}  // namespace autopack::google_credentials_test
