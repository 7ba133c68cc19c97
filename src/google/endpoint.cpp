#include "base/text.hpp"
#include "base/url.hpp"
#include "google/token_source.hpp"

#include <fmt/format.h>

namespace autopack::google {

namespace {

/// The metadata servers of clouds, which use plain HTTP.
bool is_metadata_address(const Url& url) {
  return url.host == "169.254.169.254" || url.host == "169.254.170.2" ||
         url.host == "fd00:ec2::254" || url.host == "metadata.google.internal";
}

bool is_of_google(const Url& url) {
  return url.scheme == "https" &&
         (url.host == "accounts.google.com" || url.host == "googleapis.com" ||
          url.host.ends_with(".googleapis.com"));
}

bool is_loopback(const Url& url) {
  return (url.scheme == "http" || url.scheme == "https") && url.is_loopback();
}

/// A line break in the URL would end the request's first line.
std::optional<Url> parse_endpoint(const std::string& url) {
  return url.find_first_of(" \t\r\n") == std::string::npos ? Url::parse(url) : std::nullopt;
}

}  // namespace

void require_google_endpoint(const std::string& url, const std::string& origin) {
  const auto parsed = parse_endpoint(url);
  if (!parsed || !(is_of_google(*parsed) || is_loopback(*parsed))) {
    throw Error(ErrorKind::usage, fmt::format("{} is not an https URL of Google's: `{}`", origin,
                                              printable(redact_url(url).substr(0, 200))))
        .hint("whoever controls that address would get a token; create the credentials again");
  }
}

void require_safe_endpoint(const std::string& url, const std::string& origin) {
  const auto parsed = parse_endpoint(url);
  const bool safe = parsed && (parsed->scheme == "https" || is_loopback(*parsed) ||
                               (parsed->scheme == "http" && is_metadata_address(*parsed)));
  if (!safe) {
    throw Error(ErrorKind::usage, fmt::format("{} is not an https URL: `{}`", origin,
                                              printable(redact_url(url).substr(0, 200))));
  }
}

}  // namespace autopack::google
