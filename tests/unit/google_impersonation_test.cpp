#include "support/credentials_fixture.hpp"

namespace autopack::google_impersonation_test {

using namespace autopack::testing;
using nlohmann::json;
using Fixture = CredentialsFixture;

namespace {

constexpr auto first_token = R"({"access_token": "t1", "expires_in": 3600})";
constexpr auto acting_token = R"({"accessToken": "t2", "expireTime": "1970-01-12T14:46:40.123Z"})";
constexpr auto url =
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
    "sa@p.iam.gserviceaccount.com:generateAccessToken";

google::Setting flag(const std::string& value) {
  return {.value = value, .origin = "`--impersonate-service-account`"};
}

std::string impersonated(const std::string& source = authorized_user()) {
  return json{{"type", "impersonated_service_account"},
              {"service_account_impersonation_url", url},
              {"delegates", {"between@p.iam.gserviceaccount.com"}},
              {"source_credentials", parse_json(source)}}
      .dump();
}

}  // namespace

TEST_CASE("a chain of accounts ends in the one that acts") {
  Fixture fixture{{answer(200, first_token), answer(503, ""), answer(200, acting_token)}};
  fixture.impersonate =
      flag("a@p.iam.gserviceaccount.com,b@p.iam.gserviceaccount.com, c@p.iam.gserviceaccount.com");
  const auto source = fixture.find_file(authorized_user());
  CHECK(source->quota_project() == "quota");
  const auto token = source->token();
  CHECK(token.token.reveal() == "t2");
  CHECK(token.expires_at == 1'003'600);
  CHECK(source->token().token.reveal() == "t2");
  const auto& request = fixture.client.requests.at(2);
  CHECK(request.method == "POST");
  CHECK(request.url ==
        "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
        "c@p.iam.gserviceaccount.com:generateAccessToken");
  CHECK(header_of(request, "Authorization") == "Bearer t1");
  CHECK(parse_json(request.body) ==
        json{{"delegates",
              {"projects/-/serviceAccounts/a@p.iam.gserviceaccount.com",
               "projects/-/serviceAccounts/b@p.iam.gserviceaccount.com"}},
             {"scope", {"https://www.googleapis.com/auth/cloud-platform"}},
             {"lifetime", "3600s"}});
  CHECK(fixture.reporter.details.at(0).find(
            "credentials: service account `c@p.iam.gserviceaccount.com`, impersonated "
            "(`--impersonate-service-account`) with user credentials `") == 0);
}

TEST_CASE("a file names the account to act as, and what to act with") {
  Fixture fixture{{answer(200, first_token), answer(200, acting_token)}};
  const auto source = fixture.find_file(impersonated());
  CHECK(source->token().token.reveal() == "t2");
  CHECK(fixture.client.requests.at(1).url == url);
  CHECK(parse_json(fixture.client.requests.at(1).body)["delegates"] ==
        json{"projects/-/serviceAccounts/between@p.iam.gserviceaccount.com"});
  CHECK(source->quota_project() == "quota");
  CHECK(fixture.find_file(with(impersonated(), "quota_project_id", "own"))->quota_project() ==
        "own");
}

TEST_CASE("a source token that was revoked is renewed once") {
  Fixture fixture{{answer(200, first_token), answer(401, "{}"),
                   answer(200, R"({"access_token": "t3", "expires_in": 3600})"),
                   answer(200, acting_token)}};
  fixture.impersonate = flag("123456789");
  CHECK(fixture.find_file(authorized_user())->token().token.reveal() == "t2");
  CHECK(header_of(fixture.client.requests.at(3), "Authorization") == "Bearer t3");
}

TEST_CASE("another address of IAM Credentials is used where it is safe") {
  Fixture fixture{{answer(200, first_token), answer(200, acting_token)}};
  fixture.impersonate = flag("sa@p.iam.gserviceaccount.com");
  fixture.variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS"] = "http://127.0.0.1:1";
  static_cast<void>(fixture.find_file(authorized_user())->token());
  CHECK(fixture.client.requests.at(1).url ==
        "http://127.0.0.1:1/v1/projects/-/serviceAccounts/"
        "sa@p.iam.gserviceaccount.com:generateAccessToken");
  fixture.variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS"] = "http://evil.org/";
  static_cast<void>(failure_of([&] { return fixture.find_file(authorized_user()); },
                               "`CLOUDSDK_API_ENDPOINT_OVERRIDES_IAMCREDENTIALS` is not an https "
                               "URL of Google's"));
}

TEST_CASE("invalid accounts for impersonation") {
  for (const auto* value : {"sa", "a@b.c,", "a@b.c,x/../y@z", "a@b\r\nX: y", "--account"}) {
    Fixture fixture;
    fixture.impersonate = flag(value);
    const auto error = failure_of([&] { return fixture.find_file(authorized_user()); },
                                  "in `--impersonate-service-account` is not a service account");
    CHECK(error.kind() == ErrorKind::usage);
  }
}

TEST_CASE("impersonated accounts' files that cannot be used") {
  for (const auto& [text, fragment] : std::vector<std::pair<std::string, std::string>>{
           {without(impersonated(), "source_credentials"), "has no `source_credentials`"},
           {with(impersonated(), "source_credentials", "x"), "has no `source_credentials`"},
           {impersonated(impersonated()), "impersonates with an impersonated account"},
           {impersonated(without(authorized_user(), "refresh_token")),
            "`source_credentials`, named by `GOOGLE_APPLICATION_CREDENTIALS`, has no "
            "`refresh_token`"},
           {impersonated("{}"), "has no `type`"},
           {without(impersonated(), "service_account_impersonation_url"),
            "has no `service_account_impersonation_url`"},
           {with(impersonated(), "service_account_impersonation_url", "https://example.org/x"),
            "is not an https URL of Google's"},
           {with(impersonated(), "delegates", "a"), "has `delegates` that are not a list"},
           {with(impersonated(), "delegates", {1}), "has `delegates` that are not accounts"}}) {
    Fixture fixture;
    const auto& content = text;
    const auto error = failure_of([&] { return fixture.find_file(content); }, fragment);
    CHECK(error.kind() == ErrorKind::usage);
  }
}

TEST_CASE("refusals of IAM Credentials name the remedy") {
  const auto refused = [](const char* status, const char* message, const char* reason) {
    return json{
        {"error", {{"status", status}, {"message", message}, {"details", {{{"reason", reason}}}}}}}
        .dump();
  };
  for (const auto& [response, fragment] : std::vector<std::pair<http::Response, std::string>>{
           {answer(403, refused("PERMISSION_DENIED",
                                "Permission 'iam.serviceAccounts.getAccessToken' denied", "")),
            "gcloud iam service-accounts add-iam-policy-binding sa@p.iam.gserviceaccount.com"},
           {answer(403, refused("PERMISSION_DENIED", "is disabled", "SERVICE_DISABLED")),
            "gcloud services enable iamcredentials.googleapis.com"},
           {answer(404, refused("NOT_FOUND", "Not found", "")), "gcloud iam service-accounts list"},
           {answer(400, "<html>"), ": 400"},
           {answer(200, "{}"), "the response has no access token with an expiry time"},
           {answer(200, R"({"accessToken": "s3cr3t-value"})"),
            "no access token with an expiry time"},
           {answer(200, R"({"accessToken": "s3cr3t-value", "expireTime": "soon"})"),
            "no access token with an expiry time"}}) {
    Fixture fixture{
        {answer(200, R"({"access_token": "s3cr3t-value", "expires_in": 3600})"), response}};
    const auto source = fixture.find_file(impersonated());
    CHECK(failure_of([&] { return source->token(); }, fragment).kind() == ErrorKind::remote);
  }
}

}  // namespace autopack::google_impersonation_test
