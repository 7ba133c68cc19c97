#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/secret.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/token_source.hpp"
#include "http/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>

namespace autopack::google {

namespace {

/// The caller's keys at AWS; a user's own keys have no `session`.
struct AwsKeys {
  std::string id{};
  Secret key{};
  std::optional<Secret> session{};
};

constexpr auto algorithm = "AWS4-HMAC-SHA256";
/// SHA-256 of the empty body of a GetCallerIdentity request.
constexpr auto empty_hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// `20261120T101500Z`.
std::string compact_time(std::int64_t now) {
  const std::time_t seconds = now;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string sorted_query(const std::string& query) {
  auto pairs = split(query, '&');
  for (auto& pair : pairs) {
    const auto equals = std::min(pair.find('='), pair.size());
    const auto value = equals < pair.size() ? pair.substr(equals + 1) : "";
    pair = percent_encode(percent_decode(pair.substr(0, equals))) + "=" +
           percent_encode(percent_decode(value));
  }
  std::ranges::sort(pairs);
  return query.empty() ? "" : join(pairs, "&");
}

/// The names of `headers`, separated by `;`, as the signature needs them.
std::string names_of(const std::vector<http::Header>& headers) {
  std::vector<std::string> names;
  std::ranges::transform(headers, std::back_inserter(names),
                         [](const http::Header& header) { return header.name; });
  return join(names, ";");
}

/// Returns the headers that authenticate a POST without a body to `url` (https, no user
/// information) at AWS: Signature Version 4, sorted by name. They include `target` as
/// `x-goog-cloud-target-resource`. `now` is in seconds since the epoch.
std::vector<http::Header> sign_aws_request(const std::string& url,
                                           const std::string& region,
                                           const std::string& target,
                                           const AwsKeys& keys,
                                           std::int64_t now) {
  const auto parts = Url::parse(url).value_or(Url{});
  const auto time = compact_time(now);
  const auto port = parts.port ? fmt::format(":{}", *parts.port) : "";
  std::vector<http::Header> headers{{"host", parts.host + port}, {"x-amz-date", time}};
  if (keys.session) {
    headers.push_back({"x-amz-security-token", keys.session->reveal()});
  }
  headers.push_back({"x-goog-cloud-target-resource", target});

  std::string request = fmt::format("POST\n{}\n{}\n", parts.path.empty() ? "/" : parts.path,
                                    sorted_query(parts.query));
  for (const auto& header : headers) {
    request += fmt::format("{}:{}\n", header.name, trim(header.value));
  }
  const auto names = names_of(headers);
  request += fmt::format("\n{}\n{}", names, empty_hash);

  const auto service = parts.host.substr(0, parts.host.find('.'));
  const auto day = time.substr(0, 8);
  const auto scope = fmt::format("{}/{}/{}/aws4_request", day, region, service);
  std::string key = "AWS4" + keys.key.reveal();
  for (const auto& part : split(scope, '/')) {
    key = hmac_sha256(key, part);
  }
  const auto signature = hmac_sha256(
      key, fmt::format("{}\n{}\n{}\n{}", algorithm, time, scope, sha256(request).hex()));
  headers.insert(
      headers.begin(),
      {"Authorization", fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}",
                                    algorithm, keys.id, scope, names, hexadecimal(signature))});
  return headers;
}

}  // namespace

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
