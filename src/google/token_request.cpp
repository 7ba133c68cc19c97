#include "base/json.hpp"
#include "base/text.hpp"
#include "base/url.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace autopack::google {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr int most_tries = 3;
constexpr std::chrono::milliseconds first_wait = 1s;
constexpr std::array busy{408, 429, 500, 503, 504};

std::string text_at(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

http::Request as_http(const TokenRequest& request) {
  http::Request result{.what = request.what, .method = "POST", .url = request.url};
  for (const auto& [key, value] : request.form) {
    result.body += fmt::format("{}{}={}", result.body.empty() ? "" : "&", percent_encode(key),
                               percent_encode(value));
  }
  result.headers = {{"Content-Type", "application/x-www-form-urlencoded"}};
  return result;
}

/// A token request changes nothing, so a lost answer may be asked for again.
std::optional<http::Response> try_once(http::Client& client,
                                       const http::Request& request,
                                       bool is_last) {
  try {
    auto response = client.send(request);
    const bool is_busy = std::find(busy.begin(), busy.end(), response.status) != busy.end();
    return is_busy && !is_last ? std::nullopt : std::optional{std::move(response)};
  } catch (const http::TransportError& error) {
    using Reason = http::TransportError::Reason;
    if (is_last || error.reason() == Reason::tls || error.reason() == Reason::protocol) {
      throw;
    }
    return std::nullopt;
  }
}

Error refusal(const TokenRequest& request, const http::Response& response) {
  const auto body = parse_json(response.body);
  const auto code = text_at(body, "error");
  const auto subtype = text_at(body, "error_subtype");
  const auto words = text_at(body, "error_description");
  auto error = Error(ErrorKind::remote, fmt::format("could not {}", request.what))
                   .cause(fmt::format("POST {}: {}{}{}", redact_url(request.url), response.status,
                                      code.empty() ? "" : " " + printable(code.substr(0, 100)),
                                      words.empty() ? "" : ": " + printable(words.substr(0, 300))));
  if (subtype == "invalid_rapt" || subtype == "rapt_required") {
    error.cause("the organisation asks for a new login from time to time");
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
  if (token.token.empty()) {
    throw Error(ErrorKind::remote, fmt::format("could not {}", request.what))
        .cause(fmt::format("POST {}: the answer holds no access token", redact_url(request.url)));
  }
  std::int64_t lifetime = 0;
  if (body.contains("expires_in") && body["expires_in"].is_number_integer()) {
    lifetime = body["expires_in"].get<std::int64_t>();
  } else if (const auto text = text_at(body, "expires_in"); !text.empty()) {
    std::from_chars(text.data(), text.data() + text.size(), lifetime);
  }
  token.expires_at = lifetime > 0 ? options.now() + lifetime : 0;
  return token;
}

}  // namespace

AccessToken request_token(const CredentialOptions& options, const TokenRequest& request) {
  const auto http_request = as_http(request);
  auto wait = first_wait;
  for (int tries = 1;; ++tries) {
    const auto response = try_once(*options.client, http_request, tries == most_tries);
    if (response && response->ok()) {
      return read_token(options, request, *response);
    }
    if (response) {
      throw refusal(request, *response);
    }
    options.sleep(wait);
    wait *= 2;
  }
}

void require_safe_endpoint(const std::string& url, const std::string& origin) {
  const auto parsed = Url::parse(url);
  const bool safe =
      parsed && (parsed->scheme == "https" || (parsed->scheme == "http" && parsed->is_loopback()));
  if (!safe) {
    throw Error(ErrorKind::usage,
                fmt::format("{} is not an https URL: `{}`", origin, printable(redact_url(url))));
  }
}

}  // namespace autopack::google
