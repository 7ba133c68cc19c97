#include "base/url.hpp"
#include "support/credentials_fixture.hpp"

namespace autopack::google_external_identity_test {

using namespace autopack::testing;
using nlohmann::json;
using Fixture = CredentialsFixture;

namespace {

/// As written by `gcloud iam workload-identity-pools create-cred-config --aws --enable-imdsv2`.
json aws_source() {
  const std::string server = "http://169.254.169.254/latest/";
  return {{"environment_id", "aws1"},
          {"region_url", server + "meta-data/placement/availability-zone"},
          {"url", server + "meta-data/iam/security-credentials"},
          {"imdsv2_session_token_url", server + "api/token"},
          {"regional_cred_verification_url",
           "https://sts.{region}.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15"}};
}

json aws_token_of(const http::Request& request) {
  return parse_json(percent_decode(form_of(request)["subject_token"]));
}

std::string aws_header(const json& token, const std::string& name) {
  for (const auto& header : token["headers"]) {
    if (header["key"] == name) {
      return header["value"];
    }
  }
  return {};
}

}  // namespace

TEST_CASE("an external account of AWS signs with the keys of the environment") {
  Fixture fixture{{answer(200, exchanged), answer(200, exchanged)}};
  fixture.variables["AWS_ACCESS_KEY_ID"] = "AKID";
  fixture.variables["AWS_SECRET_ACCESS_KEY"] = secret;
  fixture.variables["AWS_DEFAULT_REGION"] = "us-east-2";
  CHECK(fixture.find_file(external_account(aws_source()))->token().token.reveal() == "t1");
  const auto token = aws_token_of(fixture.client.requests.at(0));
  CHECK(token["method"] == "POST");
  CHECK(token["url"] ==
        "https://sts.us-east-2.amazonaws.com?Action=GetCallerIdentity&Version=2011-06-15");
  CHECK(aws_header(token, "host") == "sts.us-east-2.amazonaws.com");
  CHECK(aws_header(token, "x-amz-date") == "19700112T134640Z");
  CHECK(aws_header(token, "x-goog-cloud-target-resource").ends_with("/providers/provider"));
  CHECK(aws_header(token, "x-amz-security-token").empty());
  // made with google-auth's own signer
  CHECK(aws_header(token, "Authorization") ==
        "AWS4-HMAC-SHA256 Credential=AKID/19700112/us-east-2/sts/aws4_request, "
        "SignedHeaders=host;x-amz-date;x-goog-cloud-target-resource, "
        "Signature=fc5c7b39ad6bea8301e5d4adf82b14547f9d951eb46f00a568ddb8fa54b14174");

  fixture.variables["AWS_SESSION_TOKEN"] = secret;
  fixture.variables["AWS_REGION"] = "us-east-2";
  fixture.variables["AWS_DEFAULT_REGION"] = "elsewhere";
  fixture.find_file(external_account(aws_source()))->token();
  const auto session = aws_token_of(fixture.client.requests.at(1));
  CHECK(aws_header(session, "x-amz-security-token") == secret);
  CHECK(aws_header(session, "Authorization")
            .ends_with("a6a4d49bb1e24717168fbb59d184063df50287d87f35dec34bda79f5184a5e1f"));
}

TEST_CASE("an external account of AWS asks the machine for region and keys") {
  Fixture fixture{{answer(200, "session\n"), answer(200, "us-east-2b\n"), answer(200, "role"),
                   answer(200, R"({"AccessKeyId": "AKID", "SecretAccessKey": "s3cr3t-value",
                                   "Token": "s3cr3t-value"})"),
                   answer(200, exchanged)}};
  fixture.find_file(external_account(aws_source()))->token();
  const auto& requests = fixture.client.requests;
  REQUIRE(requests.size() == 5);
  CHECK(requests[0].method == "PUT");
  CHECK(header_of(requests[0], "X-aws-ec2-metadata-token-ttl-seconds") == "300");
  CHECK(header_of(requests[1], "X-aws-ec2-metadata-token") == "session");
  CHECK(requests[3].url == "http://169.254.169.254/latest/meta-data/iam/security-credentials/role");
  CHECK(aws_header(aws_token_of(requests[4]), "Authorization")
            .ends_with("a6a4d49bb1e24717168fbb59d184063df50287d87f35dec34bda79f5184a5e1f"));
}

TEST_CASE("missing data of AWS is reported") {
  struct Case {
    std::vector<FakeHttp::Answer> answers{};
    std::string without{};
    std::string fragment{};
  };

  for (const auto& [answers, missing, fragment] : {
           Case{{answer(404, "")}, "", "PUT http://169.254.169.254/latest/api/token: 404"},
           Case{{answer(200, "s"), answer(200, " ")}, "", "200 and no text"},
           Case{{answer(200, "s"), answer(200, "us-east-2b"), answer(403, "")}, "", ": 403"},
           Case{{answer(200, "s"), answer(200, "us-east-2b"), answer(200, "r"), answer(200, "{}")},
                "",
                "contains no keys"},
           Case{{}, "region_url", "export AWS_REGION=REGION"},
           Case{{answer(200, "s"), answer(200, "us-east-2b")}, "url", "there are no AWS keys"},
       }) {
    auto source = aws_source();
    source.erase(missing);
    Fixture fixture{answers};
    static_cast<void>(failure_of(
        [&] {
          fixture.find_file(external_account(source))->token();
          return 0;
        },
        fragment));
  }
  Fixture refused{{answer(400, R"({"error": "invalid_grant",
                      "error_description": "got s3cr3t-value in the request"})")}};
  refused.variables["AWS_ACCESS_KEY_ID"] = "AKID";
  refused.variables["AWS_SECRET_ACCESS_KEY"] = "key";
  refused.variables["AWS_SESSION_TOKEN"] = secret;
  refused.variables["AWS_REGION"] = "us-east-2";
  static_cast<void>(
      failure_of([&] { return refused.find_file(external_account(aws_source()))->token(); },
                 "got *** in the request"));
}

TEST_CASE("an external account shows its certificate") {
  const std::string one = "-----BEGIN CERTIFICATE-----\nAAEC\nAwQF\n-----END CERTIFICATE-----\n";
  const std::string two = "-----BEGIN CERTIFICATE-----\nBgcI\n-----END CERTIFICATE-----\n";
  Fixture fixture{{answer(200, exchanged), answer(200, exchanged)}};
  const auto certificate = fixture.write("cert.pem", one + two);
  const auto chain = fixture.write("chain.pem", one + two);
  const auto config = fixture.write(
      "certificate_config.json",
      json{{"cert_configs",
            {{"workload", {{"cert_path", certificate.string()}, {"key_path", "/key.pem"}}}}}}
          .dump());
  fixture
      .find_file(
          external_account({{"certificate", {{"certificate_config_location", config.string()}}}}))
      ->token();
  CHECK(form_of(fixture.client.requests.at(0))["subject_token"] == R"(["AAECAwQF"])");
  CHECK(fixture.client.requests[0].tls.certificate_file == certificate);
  CHECK(fixture.client.requests[0].tls.key_file == "/key.pem");

  fixture.variables["CLOUDSDK_CONFIG"] = fixture.directory.path().string();
  fixture
      .find_file(external_account(
          {{"certificate",
            {{"use_default_certificate_config", true}, {"trust_chain_path", chain.string()}}}}))
      ->token();
  CHECK(form_of(fixture.client.requests.at(1))["subject_token"] == R"(["AAECAwQF","BgcI"])");

  write_file(certificate, "no certificate");
  static_cast<void>(failure_of(
      [&] {
        return fixture
            .find_file(
                external_account({{"certificate", {{"use_default_certificate_config", true}}}}))
            ->token();
      },
      "cert.pem` contains no certificate"));
  write_file(config, "{}");
  static_cast<void>(failure_of(
      [&] {
        return fixture.find_file(
            external_account({{"certificate", {{"use_default_certificate_config", true}}}}));
      },
      "lacks `cert_path`"));
}

TEST_CASE("a person of a workforce pool refreshes at the pool's endpoint") {
  const json fields{{"type", "external_account_authorized_user"},
                    {"audience", "//iam.googleapis.com/locations/global/workforcePools/p"},
                    {"client_id", "id"},
                    {"client_secret", secret},
                    {"refresh_token", secret},
                    {"token_url", "https://sts.googleapis.com/v1/oauthtoken"},
                    {"quota_project_id", "payer"}};
  const std::string file = fields.dump();
  Fixture fixture{
      {answer(200, exchanged),
       answer(400, R"({"error": "invalid_grant", "error_description": "s3cr3t-value"})")}};
  const auto source = fixture.find_file(file);
  CHECK(source->token().token.reveal() == "t1");
  CHECK(source->quota_project() == "payer");
  const auto& request = fixture.client.requests.at(0);
  CHECK(request.url == "https://sts.googleapis.com/v1/oauthtoken");
  CHECK(form_of(request) == std::map<std::string, std::string>{{"grant_type", "refresh_token"},
                                                               {"refresh_token", secret}});
  CHECK(header_of(request, "Authorization") == "Basic " + base64_encode("id:s3cr3t-value"));
  source->expire();
  static_cast<void>(failure_of([&] { return source->token(); }, "--login-config=FILE"));
  Fixture other;
  static_cast<void>(
      failure_of([&] { return other.find_file(with(file, "token_url", "https://sts.evil.org/")); },
                 "`token_url` of"));
  static_cast<void>(failure_of([&] { return other.find_file(without(file, "refresh_token")); },
                               "has no `refresh_token`"));
}

}  // namespace autopack::google_external_identity_test
