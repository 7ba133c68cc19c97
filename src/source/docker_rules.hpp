#pragma once

#include "source/git_ignore_file.hpp"

#include <string>
#include <string_view>

namespace autopack::source {

/// The patterns of `rules`, a file with git's syntax in `directory`, as lines of a `.dockerignore`,
/// as near as its syntax comes: a pattern for directories fits files too, one that docker cannot
/// say is left out.
std::string docker_rules(const GitIgnoreFile& rules, std::string_view directory);

/// `path` as a line of a `.dockerignore` that nothing else fits.
std::string docker_path(std::string_view path);

}  // namespace autopack::source
