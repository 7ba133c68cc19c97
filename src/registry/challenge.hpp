#pragma once

#include "base/url.hpp"
#include "http/client.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::registry {

/// One way to sign in that a registry offers (RFC 9110 section 11.6.1).
struct Challenge {
  std::string scheme{};  ///< lower case: `basic`, `bearer`
  std::map<std::string, std::string> parameters{};

  /// None when it is absent or empty.
  std::optional<std::string> get(const std::string& name) const;
};

std::vector<Challenge> parse_challenges(std::string_view text);

/// The way to take among those of a 401 answer: Bearer, else Basic; none when it offers neither.
std::optional<Challenge> choose_challenge(const http::Response& response);

/// True for addresses that only mean something inside one network: loopback, private, link-local
/// (as curl reads them: `0x7f.1` too), and the names of this machine and of cloud metadata servers.
bool is_internal_host(const std::string& host);

/// Where tokens come from. Throws Error(remote) for a realm that must not see a login: plain HTTP
/// (but on loopback), or inside a network that the registry is not in.
Url check_realm(const Url& registry, const std::string& realm);

}  // namespace autopack::registry
