#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/aws_request.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

using nlohmann::json;

namespace {

constexpr auto known_environment = "aws1";
constexpr auto metadata_token = "X-aws-ec2-metadata-token";

/// Proof of an AWS identity: a signed request that Google's service sends to AWS on our behalf
/// (google.aip.dev/auth/4117). Keys and region come from the environment, else from the machine's
/// metadata server.
class OfAws final : public SubjectToken {
public:
  OfAws(CredentialOptions options, const CredentialsFile& file, const json& source)
      : options_{std::move(options)},
        audience_{file.required("audience")},
        region_url_{text_at(source, "region_url")},
        keys_url_{text_at(source, "url")},
        session_url_{text_at(source, "imdsv2_session_token_url")},
        check_url_{text_at(source, "regional_cred_verification_url")} {
    if (text_at(source, "environment_id") != known_environment) {
      throw file.fault(fmt::format("has an `environment_id` other than `{}`", known_environment));
    }
    if (!check_url_.starts_with("https://")) {
      throw file.fault("has no https URL at `regional_cred_verification_url`");
    }
    for (const auto* url : {&region_url_, &keys_url_, &session_url_}) {
      if (!url->empty()) {
        require_safe_endpoint(*url,
                              fmt::format("a URL in `credential_source` of {}", file.place()));
      }
    }
  }

  std::string get() override {
    session_.clear();
    const auto region = this->region();
    const auto url = replace_all(check_url_, "{region}", region);
    json headers = json::array();
    for (const auto& header : sign_aws_request(url, region, audience_, keys(), options_.now())) {
      headers.push_back({{"key", header.name}, {"value", header.value}});
    }
    // quoted once here and once more as part of the form; the service undoes both
    return percent_encode(write_json(json{{"url", url}, {"method", "POST"}, {"headers", headers}}));
  }

private:
  static std::optional<Secret> session_of(std::string token) {
    return token.empty() ? std::nullopt : std::optional<Secret>{std::move(token)};
  }

  std::string variable(const char* name) const {
    return options_.environment->get(name).value_or("");
  }

  std::string region() {
    for (const auto* name : {"AWS_REGION", "AWS_DEFAULT_REGION"}) {
      if (auto set = variable(name); !set.empty()) {
        return set;
      }
    }
    if (region_url_.empty()) {
      throw Error(ErrorKind::environment, "the AWS region is not known")
          .hint("export AWS_REGION=REGION");
    }
    auto zone = ask(region_url_);
    zone.pop_back();  // `us-east-2b` is a zone of `us-east-2`
    return zone;
  }

  AwsKeys keys() {
    AwsKeys keys{.id = variable("AWS_ACCESS_KEY_ID"),
                 .key = Secret{variable("AWS_SECRET_ACCESS_KEY")},
                 .session = session_of(variable("AWS_SESSION_TOKEN"))};
    if (!keys.id.empty() && !keys.key.empty()) {
      return keys;
    }
    if (keys_url_.empty()) {
      throw Error(ErrorKind::environment, "there are no AWS keys")
          .hint("export AWS_ACCESS_KEY_ID=ID AWS_SECRET_ACCESS_KEY=KEY");
    }
    const auto url = keys_url_ + "/" + percent_encode(ask(keys_url_));
    const auto answer = parse_json(ask(url));
    keys = {.id = text_at(answer, "AccessKeyId"),
            .key = Secret{text_at(answer, "SecretAccessKey")},
            .session = session_of(text_at(answer, "Token"))};
    if (keys.id.empty() || keys.key.empty()) {
      throw Error(ErrorKind::environment,
                  fmt::format("the response of {} contains no keys", redact_url(url)));
    }
    return keys;
  }

  /// Returns the trimmed text at `url` of the machine's metadata server; never empty.
  std::string ask(const std::string& url) {
    http::Request request{.what = "ask the AWS metadata server", .url = url};
    if (!session_url_.empty()) {
      request.headers.push_back({metadata_token, session()});
    }
    return send(request);
  }

  std::string session() {
    if (session_.empty()) {
      session_ = send({.what = "ask the AWS metadata server for a session",
                       .method = "PUT",
                       .url = session_url_,
                       .headers = {{fmt::format("{}-ttl-seconds", metadata_token), "300"}}});
    }
    return session_;
  }

  std::string send(const http::Request& request) const {
    const auto response = send_patiently(options_, request);
    auto text = std::string{trim(response.body)};
    if (!response.ok() || text.empty()) {
      throw Error(ErrorKind::remote,
                  fmt::format("{} {}: {}{}", request.method, redact_url(request.url),
                              response.status, response.ok() ? " and no text" : ""));
    }
    return text;
  }

  CredentialOptions options_;
  std::string audience_;
  std::string region_url_;
  std::string keys_url_;
  std::string session_url_;
  std::string check_url_;
  std::string session_{};
};

}  // namespace

std::unique_ptr<SubjectToken> make_aws_subject_token(const CredentialOptions& options,
                                                     const CredentialsFile& file,
                                                     const json& source) {
  return std::make_unique<OfAws>(options, file, source);
}

}  // namespace autopack::google
