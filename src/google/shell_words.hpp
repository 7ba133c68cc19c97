#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::google {

/// Splits `text` as a POSIX shell does (quotes and backslashes, no expansion). Returns nothing if a
/// quote is not closed.
std::optional<std::vector<std::string>> shell_words(std::string_view text);

}  // namespace autopack::google
