#pragma once

#include <set>
#include <string>
#include <string_view>

namespace autopack::project {

/// The `machine` entries of a netrc file for `hosts`, one per line, in order; empty when none fits.
std::string netrc_entries(std::string_view text, const std::set<std::string>& hosts);

}  // namespace autopack::project
