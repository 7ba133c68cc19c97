#include "google/shell_words.hpp"
#include "support/credentials_fixture.hpp"

#include <filesystem>

namespace autopack::google_external_account_test {

using namespace autopack::testing;
using nlohmann::json;
using Fixture = CredentialsFixture;

namespace {

constexpr auto impersonation =
    "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
    "sa@p.iam.gserviceaccount.com:generateAccessToken";

json program_source(const Fixture& fixture, const std::string& script) {
  const auto path = fixture.write("program", "#!/bin/sh\n" + script);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return {{"executable", {{"command", path.string() + " first second"}}}};
}

std::string prints(const json& answer) {
  return "cat <<'E'\n" + answer.dump() + "\nE\n";
}

}  // namespace

TEST_CASE("an external account exchanges the token of a file") {
  Fixture fixture{{answer(200, exchanged), answer(200, exchanged)}};
  const auto subject = fixture.write("subject", "s3cr3t-value\n");
  fixture.token_directory = fixture.directory.path() / "tokens";
  const auto source = fixture.find_file(
      with(external_account({{"file", subject.string()}}), "quota_project_id", "payer"));
  CHECK(fixture.client.requests.empty());
  CHECK(source->quota_project() == "payer");
  const auto token = source->token();
  CHECK(token.token.reveal() == "t1");
  CHECK(token.expires_at == 1'003'600);
  const auto& request = fixture.client.requests.at(0);
  CHECK(request.method == "POST");
  CHECK(request.url == "https://sts.googleapis.com/v1/token");
  CHECK(header_of(request, "Content-Type") == "application/x-www-form-urlencoded");
  CHECK(header_of(request, "Authorization").empty());
  CHECK(form_of(request) ==
        std::map<std::string, std::string>{
            {"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
            {"audience",
             "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/"
             "providers/provider"},
            {"scope", "https://www.googleapis.com/auth/cloud-platform"},
            {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
            {"subject_token", secret},
            {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"}});
  // the file may contain another identity's token in the next run
  CHECK_FALSE(std::filesystem::exists(*fixture.token_directory));
  // a new token requires reading it again
  write_file(subject, R"(next)");
  fixture.now += 3600;
  static_cast<void>(source->token());
  CHECK(form_of(fixture.client.requests.at(1))["subject_token"] == "next");
}

TEST_CASE("a subject token is in JSON or comes from a URL") {
  Fixture file{{answer(200, exchanged)}};
  const auto path = file.write("subject", R"({"access_token": "of-json", "other": 1})");
  const json format{{"type", "json"}, {"subject_token_field_name", "access_token"}};
  static_cast<void>(
      file.find_file(external_account({{"file", path.string()}, {"format", format}}))->token());
  CHECK(form_of(file.client.requests.at(0))["subject_token"] == "of-json");

  Fixture url{
      {answer(503, ""), answer(200, R"({"access_token": "of-url"})"), answer(200, exchanged)}};
  static_cast<void>(
      url.find_file(external_account({{"url", "https://token.example.org/?audience=a"},
                                      {"headers", {{"Authorization", "bearer s3cr3t-value"}}},
                                      {"format", format}}))
          ->token());
  CHECK(url.client.requests.at(1).method == "GET");
  CHECK(url.client.requests.at(1).url == "https://token.example.org/?audience=a");
  CHECK(header_of(url.client.requests.at(1), "Authorization") == "bearer s3cr3t-value");
  CHECK(form_of(url.client.requests.at(2))["subject_token"] == "of-url");
}

TEST_CASE("a program gives the subject token only where that is allowed") {
  Fixture fixture{{answer(200, exchanged)}};
  const auto seen = fixture.directory.path() / "seen";
  const auto source = program_source(
      fixture,
      "echo \"$* $GOOGLE_EXTERNAL_ACCOUNT_TOKEN_TYPE $GOOGLE_EXTERNAL_ACCOUNT_INTERACTIVE "
      "$GOOGLE_EXTERNAL_ACCOUNT_IMPERSONATED_EMAIL\" >" +
          seen.string() + "\n" +
          prints({{"version", 1},
                  {"success", true},
                  {"token_type", "urn:ietf:params:oauth:token-type:id_token"},
                  {"id_token", "of-program"},
                  {"expiration_time", 1'000'100}}));
  const auto refused =
      failure_of([&] { return fixture.find_file(external_account(source)); },
                 "which `GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES` does not allow");
  CHECK(refused.kind() == ErrorKind::usage);
  CHECK_FALSE(std::filesystem::exists(seen));
  fixture.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  CHECK(fixture.find_file(external_account(source))->token().token.reveal() == "t1");
  CHECK(form_of(fixture.client.requests.at(0))["subject_token"] == "of-program");
  CHECK(read_file(seen) == "first second urn:ietf:params:oauth:token-type:jwt 0 \n");
}

TEST_CASE("a program's output file is used until it expires") {
  Fixture fixture{{answer(200, exchanged), answer(200, exchanged)}};
  fixture.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
  auto source =
      program_source(fixture, prints({{"version", 1},
                                      {"success", true},
                                      {"token_type", "urn:ietf:params:oauth:token-type:saml2"},
                                      {"saml_response", "of-program"}}));
  const json kept{{"version", 1},
                  {"success", true},
                  {"token_type", "urn:ietf:params:oauth:token-type:id_token"},
                  {"id_token", "kept"},
                  {"expiration_time", 1'003'000}};
  source["executable"]["output_file"] = fixture.write("kept", kept.dump()).string();
  const auto found = fixture.find_file(external_account(source));
  static_cast<void>(found->token());
  CHECK(form_of(fixture.client.requests.at(0))["subject_token"] == "kept");
  fixture.now = 1'003'500;
  static_cast<void>(found->token());
  CHECK(form_of(fixture.client.requests.at(1))["subject_token"] == "of-program");
}

TEST_CASE("an external account impersonates with a token for that alone") {
  Fixture fixture{{answer(200, exchanged),
                   answer(200, R"({"accessToken": "t2", "expireTime": "1970-01-12T14:33:20Z"})")}};
  const auto subject = fixture.write("subject", secret);
  auto text = with(external_account({{"file", subject.string()}}),
                   "service_account_impersonation_url", impersonation);
  text = with(text, "service_account_impersonation", {{"token_lifetime_seconds", 2800}});
  const auto source = fixture.find_file(text);
  CHECK(source->describe().find("service account `sa@p.iam.gserviceaccount.com`, impersonated") ==
        0);
  const auto token = source->token();
  CHECK(token.token.reveal() == "t2");
  CHECK(token.expires_at == 1'002'800);
  CHECK(form_of(fixture.client.requests.at(0))["scope"] == "https://www.googleapis.com/auth/iam");
  const auto& request = fixture.client.requests.at(1);
  CHECK(request.url == impersonation);
  CHECK(header_of(request, "Authorization") == "Bearer t1");
  CHECK(parse_json(request.body) ==
        json{{"delegates", nullptr},
             {"scope", {"https://www.googleapis.com/auth/cloud-platform"}},
             {"lifetime", "2800s"}});
}

TEST_CASE("a workforce pool's project is quoted twice, and a client names itself instead") {
  Fixture fixture{{answer(200, exchanged), answer(200, exchanged)}};
  const auto subject = fixture.write("subject", secret);
  auto text = with(external_account({{"file", subject.string()}}), "audience",
                   "//iam.googleapis.com/locations/global/workforcePools/pool/providers/p");
  text = with(text, "workforce_pool_user_project", "P");
  static_cast<void>(fixture.find_file(text)->token());
  CHECK(fixture.client.requests.at(0).body.find(
            "&options=%257B%2522userProject%2522%253A%2520%2522P%2522%257D") != std::string::npos);
  text = with(with(text, "client_id", "me"), "client_secret", "pass");
  static_cast<void>(fixture.find_file(text)->token());
  CHECK(header_of(fixture.client.requests.at(1), "Authorization") == "Basic bWU6cGFzcw==");
  CHECK(form_of(fixture.client.requests.at(1)).count("options") == 0);
}

TEST_CASE("external accounts that cannot be used") {
  struct Case {
    std::string text{};
    std::string fragment{};
  };

  const auto good = external_account({{"file", "/subject"}});
  const json program{{"command", "/bin/true"}, {"timeout_millis", 1}};
  for (const auto& [text, fragment] : {
           Case{without(good, "audience"), "has no `audience`"},
           Case{without(good, "subject_token_type"), "has no `subject_token_type`"},
           Case{without(good, "token_url"), "has no `token_url`"},
           Case{without(good, "credential_source"), "has no `credential_source`"},
           Case{with(good, "credential_source", secret), "has no `credential_source`"},
           Case{with(good, "token_url", "https://sts.evil.org/v1/token"), "`token_url` of"},
           Case{with(good, "token_url", "http://sts.googleapis.com/v1/token"),
                "is not an https URL of Google's"},
           Case{with(good, "service_account_impersonation_url",
                     "https://evil.org/x:generateAccessToken"),
                "`service_account_impersonation_url` of"},
           Case{with(good, "service_account_impersonation_url",
                     "https://iamcredentials.googleapis.com/v1/x"),
                "does not end in `:generateAccessToken`"},
           Case{with(with(good, "service_account_impersonation_url", impersonation),
                     "service_account_impersonation", {{"token_lifetime_seconds", 43201}}),
                "is not between 600 and 43200"},
           Case{with(good, "workforce_pool_user_project", "p"), "is not a workforce pool"},
           Case{external_account(json::object()), "not one of `file`, `url`, `executable`"},
           Case{external_account({{"file", "/a"}, {"url", "https://b/"}}),
                "not one of `file`, `url`"},
           Case{external_account({{"file", 5}}), "whose `file` is not a path"},
           Case{external_account({{"environment_id", "aws1"}, {"url", "http://169.254.169.254/x"}}),
                "no https URL at `regional_cred_verification_url`"},
           Case{external_account({{"environment_id", "aws2"}}),
                "`environment_id` other than `aws1`"},
           Case{external_account(
                    {{"environment_id", "aws1"},
                     {"regional_cred_verification_url", "https://sts.{region}.amazonaws.com"},
                     {"region_url", "http://example.org/"}}),
                "a URL in `credential_source` of"},
           Case{external_account({{"certificate", json::object()}}), "neither or both of"},
           Case{external_account({{"certificate",
                                   {{"certificate_config_location", "/a"},
                                    {"use_default_certificate_config", true}}}}),
                "neither or both of"},
           Case{external_account({{"url", "http://token.example.org/"}}),
                "`url` in `credential_source` of"},
           Case{external_account({{"url", "https://e.org/"}, {"headers", {{"A", "b\r\nC: d"}}}}),
                "with invalid `headers`"},
           Case{external_account({{"file", "/a"}, {"format", {{"type", "xml"}}}}),
                "whose `format` is neither"},
           Case{external_account({{"file", "/a"}, {"format", {{"type", "json"}}}}),
                "whose `format` is neither"},
           Case{external_account({{"executable", {{"command", " "}}}}), "has no `command`"},
           Case{external_account({{"executable", program}}), "is not between 5000 and 120000"},
       }) {
    Fixture fixture;
    fixture.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
    const auto& content = text;
    const auto error = failure_of([&] { return fixture.find_file(content); }, fragment);
    CHECK(error.kind() == ErrorKind::usage);
    CHECK(all_text(error).find("adc.json`, named by `GOOGLE_APPLICATION_CREDENTIALS`") !=
          std::string::npos);
  }
}

TEST_CASE("subject tokens that cannot be had") {
  struct Case {
    json source{};
    std::vector<FakeHttp::Answer> answers{};
    std::string fragment{};
    ErrorKind kind{ErrorKind::environment};
  };

  Fixture files;
  const auto at = [&](const char* name, const std::string& text) {
    return files.write(name, text).string();
  };
  const json format{{"type", "json"}, {"subject_token_field_name", "id_token"}};
  const auto program = [&](const std::string& script) { return program_source(files, script); };
  std::vector<Case> cases{
      {{{"file", "/absent"}}, {}, "`/absent`"},
      {{{"file", at("empty", "\n")}}, {}, "empty` is empty"},
      {{{"file", at("text", "s3cr3t-value")}, {"format", format}},
       {},
       "contains no JSON with the text `id_token`"},
      {{{"url", "http://127.0.0.1:1/t?key=s3cr3t-value"}},
       {answer(404, "s3cr3t-value")},
       "GET http://127.0.0.1:1/t?key=***: 404",
       ErrorKind::remote},
      {{{"file", at("rejected", "s3cr3t-value")}},
       {answer(400, R"({"error": "invalid_grant", "error_description": "no good: s3cr3t-value"})")},
       "400 invalid_grant: no good: ***",
       ErrorKind::remote},
      {{{"executable", {{"command", "/absent/program s3cr3t-value"}}}}, {}, "is not there"}};
  const auto run = [&](const Case& item) {
    Fixture fixture{item.answers};
    fixture.variables["GOOGLE_EXTERNAL_ACCOUNT_ALLOW_EXECUTABLES"] = "1";
    const auto source = fixture.find_file(external_account(item.source));
    const auto error = failure_of([&] { return source->token(); }, item.fragment);
    CHECK(error.kind() == item.kind);
    CHECK(all_text(error).find("adc.json`") != std::string::npos);
  };
  for (const auto& item : cases) {
    run(item);
  }
  for (const auto& [script, fragment] : std::vector<std::pair<std::string, std::string>>{
           {"echo s3cr3t-value >&2; exit 3", "ended with status 3"},
           {"echo s3cr3t-value", "does not answer in JSON"},
           {prints({{"version", 2}, {"success", true}}),
            "does not answer in JSON with `version` 1"},
           {prints({{"version", 1}, {"success", false}, {"code", "401"}, {"message", "log in"}}),
            "401: log in"},
           {prints({{"version", 1}, {"success", true}, {"token_type", "x"}}), "without a token"},
           {prints(
                {{"version", 1}, {"success", true}, {"id_token", secret}, {"expiration_time", 5}}),
            "with a token that has ended"}}) {
    run({.source = program(script), .fragment = fragment});
  }
}

TEST_CASE("a program's command is split as a shell splits it") {
  using google::shell_words;
  using Words = std::vector<std::string>;
  CHECK(shell_words("a  b\tc") == Words{"a", "b", "c"});
  CHECK(shell_words("'/my programs/x' --name=\"a \\\"b\\\" \\c\" d\\ e ''") ==
        Words{"/my programs/x", "--name=a \"b\" \\c", "d e", ""});
  CHECK(shell_words(" ") == Words{});
  CHECK_FALSE(shell_words("'open"));
  CHECK_FALSE(shell_words("\"open"));
}

}  // namespace autopack::google_external_account_test
