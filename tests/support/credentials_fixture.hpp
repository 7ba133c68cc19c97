#pragma once

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/credentials.hpp"
#include "support/fake_http.hpp"
#include "support/recording_reporter.hpp"
#include "support/temporary_directory.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

namespace autopack::testing {

/// The value of every secret field; it must not be in any message.
constexpr auto secret = "s3cr3t-value";

/// Returns a new RSA key, made by openssl's program.
inline std::string private_key() {
  static const std::string key = [] {
    const auto made = run_process(
        {"openssl", "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"}, "");
    REQUIRE(made);
    REQUIRE(made->status == 0);
    return made->output;
  }();
  return key;
}

inline std::string all_text(const Error& error) {
  return error.message() + "\n" + join(error.causes(), "\n") + "\n" + join(error.hints(), "\n");
}

/// Files, variables, a clock and a network for find_credentials.
struct CredentialsFixture {
  TemporaryDirectory directory{};
  std::map<std::string, std::string, std::less<>> variables{{"HOME", directory.path().string()},
                                                            {"NO_GCE_CHECK", "true"}};
  std::int64_t now{1'000'000};
  std::vector<std::chrono::milliseconds> waits{};
  FakeHttp client;
  std::optional<std::string> billing_project{};
  google::Setting account{};
  google::Setting impersonate{};
  google::GcloudConfiguration configuration{};
  std::optional<std::filesystem::path> token_directory{};
  RecordingReporter reporter{};

  explicit CredentialsFixture(std::vector<FakeHttp::Answer> answers = {})
      : client{std::move(answers)} {}

  std::filesystem::path write(const char* name, const std::string& text) const {
    write_file(directory.path() / name, text);
    return directory.path() / name;
  }

  std::unique_ptr<google::TokenSource> find(
      const std::optional<std::filesystem::path>& token_file = {}) {
    environment = Environment{variables};
    return google::find_credentials({.access_token_file = token_file,
                                     .environment = &environment,
                                     .client = &client,
                                     .now = [this] { return now; },
                                     .sleep = [this](auto time) { waits.push_back(time); },
                                     .billing_project = billing_project,
                                     .access_token_file_origin = "`--access-token-file`",
                                     .account = account,
                                     .impersonate = impersonate,
                                     .configuration = configuration,
                                     .token_directory = token_directory,
                                     .reporter = &reporter});
  }

  std::unique_ptr<google::TokenSource> find_file(const std::string& text) {
    variables["GOOGLE_APPLICATION_CREDENTIALS"] = write("adc.json", text).string();
    return find();
  }

  Environment environment{};
};

inline std::string service_account(
    const std::string& token_uri = "https://oauth2.googleapis.com/token") {
  return nlohmann::json{
      {"type", "service_account"},    {"client_email", "robot@p.iam.gserviceaccount.com"},
      {"private_key_id", "key-1"},    {"private_key", private_key()},
      {"token_uri", token_uri},       {"project_id", "key-project"},
      {"quota_project_id", "ignored"}}
      .dump();
}

inline std::string authorized_user() {
  return nlohmann::json{{"type", "authorized_user"},
                        {"client_id", "id"},
                        {"client_secret", secret},
                        {"refresh_token", secret},
                        {"quota_project_id", "quota"}}
      .dump();
}

/// As written by `gcloud iam workload-identity-pools create-cred-config`.
inline std::string external_account(const nlohmann::json& source) {
  return nlohmann::json{
      {"type", "external_account"},
      {"audience",
       "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/"
       "providers/provider"},
      {"subject_token_type", "urn:ietf:params:oauth:token-type:jwt"},
      {"token_url", "https://sts.googleapis.com/v1/token"},
      {"credential_source", source}}
      .dump();
}

/// The endpoint's response to an exchange.
constexpr auto exchanged =
    R"({"access_token": "t1", "issued_token_type": "x", "expires_in": 3600, "token_type": "Bearer"})";

/// Returns the JSON object `text` with another value at `key`.
inline std::string with(const std::string& text, const char* key, const nlohmann::json& value) {
  auto content = parse_json(text);
  content[key] = value;
  return content.dump();
}

inline std::string without(const std::string& text, const char* key) {
  auto content = parse_json(text);
  content.erase(key);
  return content.dump();
}

/// Returns a header of `request`; empty if it has none.
inline std::string header_of(const http::Request& request, const std::string& name) {
  for (const auto& header : request.headers) {
    if (header.name == name) {
      return header.value;
    }
  }
  return {};
}

/// Runs `step`, which must throw. Returns the error, which must contain `fragment` and no secret.
template <class Step>
Error failure_of(Step&& step, const std::string& fragment) {
  CAPTURE(fragment);
  try {
    static_cast<void>(std::forward<Step>(step)());
  } catch (const Error& error) {
    CAPTURE(all_text(error));
    CHECK(all_text(error).find(fragment) != std::string::npos);
    CHECK(all_text(error).find(secret) == std::string::npos);
    return error;
  }
  FAIL("no error");
  return Error{ErrorKind::internal, "unreachable"};
}

inline std::map<std::string, std::string> form_of(const http::Request& request) {
  std::map<std::string, std::string> form;
  for (const auto& pair : split(request.body, '&')) {
    const auto equals = pair.find('=');
    form[percent_decode(pair.substr(0, equals))] = percent_decode(pair.substr(equals + 1));
  }
  return form;
}

}  // namespace autopack::testing
