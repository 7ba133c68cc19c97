#pragma once

#include "source/git_ignore_file.hpp"

#include <string>
#include <string_view>

namespace autopack::source {

/// Translates the patterns of `rules`, a file with git's syntax in `directory`, to lines of a
/// `.dockerignore`, as exactly as possible: a pattern for directories also matches files, and
/// patterns that docker cannot express are omitted.
std::string docker_rules(const GitIgnoreFile& rules, std::string_view directory);

/// Returns a line of a `.dockerignore` that matches only `path`.
std::string docker_path(std::string_view path);

}  // namespace autopack::source
