#include "registry/challenge.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace autopack::registry {

namespace {

/// Parses a header's text from left to right.
class Scanner {
public:
  explicit Scanner(std::string_view text) : rest_{text} {}

  bool at_end() {
    const auto start = rest_.find_first_not_of(" \t,");
    rest_ = start == std::string_view::npos ? std::string_view{} : rest_.substr(start);
    return rest_.empty();
  }

  std::string token() {
    const auto end = std::min(rest_.find_first_of(" \t,=\""), rest_.size());
    std::string text{rest_.substr(0, end)};
    rest_.remove_prefix(end);
    return text;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  std::string value() {
    if (!take('"')) {
      return token();
    }
    std::string text;
    while (!rest_.empty() && !take('"')) {
      take('\\');
      if (!rest_.empty()) {
        text += rest_.front();
        rest_.remove_prefix(1);
      }
    }
    return text;
  }

private:
  std::string_view rest_;
};

bool is_internal_v4(std::uint32_t address) {
  struct Range {
    std::uint32_t network;
    unsigned bits;
  };

  static constexpr std::array ranges{
      Range{0x00000000, 8},  Range{0x0A000000, 8},  Range{0x64400000, 10}, Range{0x7F000000, 8},
      Range{0xA9FE0000, 16}, Range{0xAC100000, 12}, Range{0xC0A80000, 16},
  };
  return std::ranges::any_of(ranges, [&](const Range& range) {
    return address >> (32 - range.bits) == range.network >> (32 - range.bits);
  });
}

bool is_internal_v6(const in6_addr& address) {
  std::array<std::uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &address, bytes.size());
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    std::uint32_t inner = 0;
    std::memcpy(&inner, bytes.data() + 12, sizeof inner);
    return is_internal_v4(ntohl(inner));
  }
  return IN6_IS_ADDR_LOOPBACK(&address) || IN6_IS_ADDR_UNSPECIFIED(&address) ||
         (bytes[0] & 0xFEU) == 0xFC || (bytes[0] == 0xFE && (bytes[1] & 0xC0U) == 0x80);
}

}  // namespace

std::optional<std::string> Challenge::get(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::nullopt : non_empty(found->second);
}

std::vector<Challenge> parse_challenges(std::string_view text) {
  std::vector<Challenge> challenges;
  Scanner scanner{text};
  while (!scanner.at_end()) {
    const std::string name = to_lower(scanner.token());
    if (scanner.take('=')) {
      if (!challenges.empty()) {
        challenges.back().parameters[name] = scanner.value();
      } else {
        scanner.value();
      }
    } else if (!name.empty()) {
      challenges.push_back({.scheme = name});
    } else {
      scanner.value();
    }
  }
  return challenges;
}

std::optional<Challenge> choose_challenge(const http::Response& response) {
  std::optional<Challenge> basic;
  for (const auto& [name, value] : response.headers) {
    if (to_lower(name) != "www-authenticate") {
      continue;
    }
    for (auto& challenge : parse_challenges(value)) {
      if (challenge.scheme == "bearer") {
        return challenge;
      }
      if (challenge.scheme == "basic") {
        basic = std::move(challenge);
      }
    }
  }
  return basic;
}

bool is_internal_host(const std::string& host) {
  in_addr v4{};
  in6_addr v6{};
  if (::inet_aton(host.c_str(), &v4) != 0) {
    return is_internal_v4(ntohl(v4.s_addr));
  }
  if (::inet_pton(AF_INET6, host.substr(0, host.find('%')).c_str(), &v6) == 1) {
    return is_internal_v6(v6);
  }
  std::string name = to_lower(host);
  if (name.ends_with('.')) {
    name.pop_back();
  }
  return name == "localhost" || name.ends_with(".localhost") ||
         name == "metadata.google.internal" || name == "metadata";
}

Url check_realm(const Url& registry, const std::string& realm) {
  const auto url = Url::parse(realm);
  const auto refuse = [&](const std::string& why) -> Error {
    return Error(ErrorKind::remote,
                 fmt::format("the registry `{}` asks for the login at `{}`, which is not allowed",
                             registry.host, printable(redact_url(realm))))
        .cause(why);
  };
  if (!url || (url->scheme != "https" && url->scheme != "http")) {
    throw refuse("it is not an http URL");
  }
  if (!url->user.empty() || !url->password.empty()) {
    throw refuse("it contains a login");
  }
  if (url->scheme == "http" && !(url->is_loopback() && registry.scheme == "http")) {
    throw refuse("a login is never sent over plain HTTP");
  }
  if (url->host != registry.host && is_internal_host(url->host) &&
      !is_internal_host(registry.host)) {
    throw refuse("it is an address inside this network, but the registry is outside");
  }
  return *url;
}

}  // namespace autopack::registry
