#include "google/aws_request.hpp"

#include "base/digest.hpp"
#include "base/hmac.hpp"
#include "base/text.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

namespace autopack::google {

namespace {

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

}  // namespace

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

}  // namespace autopack::google
