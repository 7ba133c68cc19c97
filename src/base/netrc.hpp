#pragma once

#include "base/secret.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace autopack {

/// Returns the `machine` entries of a netrc file for `hosts`, one per line, in order; empty if none
/// matches.
std::string netrc_entries(std::string_view text, const std::set<std::string>& hosts);

struct NetrcLogin {
  std::string user{};
  Secret password{};
};

/// Returns the last login of a netrc file for `host`; nothing if it has no entry of its own.
/// Ignores the entry `default`, which would send a password to any host.
std::optional<NetrcLogin> netrc_login(std::string_view text, const std::string& host);

}  // namespace autopack
