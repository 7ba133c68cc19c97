#pragma once

#include "base/digest.hpp"
#include "lock/locked_set.hpp"

#include <string>
#include <string_view>

namespace autopack::engine {

// The texts of direct_url.json, as the newest pip writes them (packaging.python.org, direct URL
// data structure).

/// Of a wheel or an archive of sources at `url`, which has no login.
std::string direct_url_of_archive(const std::string& url, const Digest& digest);

/// Of what a directory or a repository gives.
std::string direct_url_of(const lock::LockedSource& source);

/// Where pip would find `path` of the project while an engine installs.
std::string url_in_build(std::string_view path);

}  // namespace autopack::engine
