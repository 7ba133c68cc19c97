#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/api_error.hpp"
#include "google/token_source.hpp"
#include "http/retry.hpp"

#include <fmt/format.h>

#include <charconv>

namespace autopack::google {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

/// The same as google-auth; retries follow the policy of all requests, including jitter.
constexpr http::RetryLimits limits{.attempts = 3, .first = 2s};
constexpr std::size_t longest_quote = 300;
/// Shorter values are words that messages may contain.
constexpr std::size_t shortest_secret = 8;

http::Request as_http(const TokenRequest& request) {
  http::Request result{.what = request.what,
                       .method = "POST",
                       .url = request.url,
                       .headers = request.headers,
                       .tls = request.tls};
  for (const auto& [key, value] : request.form) {
    result.body += fmt::format("{}{}={}", result.body.empty() ? "" : "&", percent_encode(key),
                               percent_encode(value));
  }
  result.headers.push_back({"Content-Type", "application/x-www-form-urlencoded"});
  return result;
}

/// Reads RFC 6749's `{"error": "code"}`, or a Google API error.
Error refusal(const TokenRequest& request, const http::Response& response) {
  std::vector<std::string> secrets;
  for (const auto& [name, value] : request.form) {
    secrets.push_back(value);
    if (name == "subject_token") {
      // the AWS value is quoted JSON with tokens inside
      const auto parts = split(percent_decode(value), '"');
      secrets.insert(secrets.end(), parts.begin(), parts.end());
    }
  }
  const auto body = parse_json(response.body);
  auto code = text_at(body, "error");
  auto words = text_at(body, "error_description");
  if (code.empty()) {
    const auto api = read_api_error(response);
    code = api.status.value_or("");
    words = body.is_object() ? api.message : "";
  }
  const auto subtype = text_at(body, "error_subtype");
  auto error = Error(ErrorKind::remote, fmt::format("could not {}", request.what))
                   .cause(fmt::format("POST {}: {}{}{}", redact_url(request.url), response.status,
                                      code.empty() ? "" : " " + quote(code.substr(0, 100), secrets),
                                      words.empty() ? "" : ": " + quote(words, secrets)));
  if (subtype == "invalid_rapt" || subtype == "rapt_required") {
    error.cause("reauthentication is needed: the organisation requires it from time to time");
  }
  if (words.find("short-lived token") != std::string::npos) {
    error.hint("compare this machine's clock: date -u");
  }
  return error;
}

AccessToken read_token(const CredentialOptions& options,
                       const TokenRequest& request,
                       const http::Response& response) {
  const auto body = parse_json(response.body);
  AccessToken token{.token = Secret{text_at(body, "access_token")}};
  if (token.token.empty() || token.token.reveal().find_first_of(" \t\r\n") != std::string::npos) {
    throw Error(ErrorKind::remote, fmt::format("could not {}", request.what))
        .cause(fmt::format("POST {}: the response has no access token", redact_url(request.url)));
  }
  std::int64_t lifetime = 0;
  if (body.contains("expires_in") && body["expires_in"].is_number_integer()) {
    lifetime = body["expires_in"].get<std::int64_t>();
  } else if (const auto text = text_at(body, "expires_in"); !text.empty()) {
    std::from_chars(text.data(), text.data() + text.size(), lifetime);
  }
  constexpr std::int64_t a_day = 86400;  // no token is valid longer
  token.expires_at = lifetime > 0 ? options.now() + std::min(lifetime, a_day) : 0;
  return token;
}

}  // namespace

http::Response send_patiently(const CredentialOptions& options, const http::Request& request) {
  return http::retry([&] { return options.client->send(request); }, options.sleep, limits);
}

AccessToken request_token(const CredentialOptions& options, const TokenRequest& request) {
  const auto response = send_patiently(options, as_http(request));
  if (!response.ok()) {
    throw refusal(request, response);
  }
  return read_token(options, request, response);
}

std::string quote(std::string_view text, std::span<const std::string> secrets) {
  std::string result{text};
  for (const auto& secret : secrets) {
    if (secret.size() >= shortest_secret) {
      result = replace_all(std::move(result), secret, "***");
    }
  }
  return printable(trim(std::string_view{result}.substr(0, longest_quote)));
}

}  // namespace autopack::google
