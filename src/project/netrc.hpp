#pragma once

#include "base/secret.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace autopack::project {

/// The `machine` entries of a netrc file for `hosts`, one per line, in order; empty when none fits.
std::string netrc_entries(std::string_view text, const std::set<std::string>& hosts);

struct NetrcLogin {
  std::string user{};
  Secret password{};
};

/// The last login of a netrc file for `host`; none when it has no entry of its own: the entry
/// `default` would show a password to whoever is asked.
std::optional<NetrcLogin> netrc_login(std::string_view text, const std::string& host);

}  // namespace autopack::project
