#pragma once

#include "base/digest.hpp"
#include "lock/locked_set.hpp"

#include <string>
#include <string_view>

namespace autopack::build {

// The texts of direct_url.json, as the newest pip writes them (packaging.python.org, direct URL
// data structure).

/// For a wheel or an archive of sources at `url`, which has no login.
std::string direct_url_of_archive(const std::string& url, const Digest& digest);

/// For a directory or a repository.
std::string direct_url_of(const lock::LockedSource& source);

/// Returns the URL that pip sees for `path` of the project while an engine installs.
std::string url_in_build(std::string_view path);

}  // namespace autopack::build
