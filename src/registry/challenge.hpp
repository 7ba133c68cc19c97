#pragma once

#include "base/url.hpp"
#include "http/client.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::registry {

/// A login method that a registry offers (RFC 9110 section 11.6.1).
struct Challenge {
  std::string scheme{};  ///< lower case: `basic`, `bearer`
  std::map<std::string, std::string> parameters{};

  /// Returns nothing if the parameter is absent or empty.
  std::optional<std::string> get(const std::string& name) const;
};

std::vector<Challenge> parse_challenges(std::string_view text);

/// Returns the method to use for a 401 answer: Bearer, else Basic. Returns nothing if it offers
/// neither.
std::optional<Challenge> choose_challenge(const http::Response& response);

/// True for addresses that are valid only inside one network: loopback, private, link-local (in
/// every form that curl accepts, such as `0x7f.1`), and the names of this machine and of cloud
/// metadata servers.
bool is_internal_host(const std::string& host);

/// Returns the URL of the token server. Throws Error(remote) for a realm that must not get a login:
/// one with plain HTTP (except on loopback), or one inside a network that the registry is not in.
Url check_realm(const Url& registry, const std::string& realm);

}  // namespace autopack::registry
