#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::google {

/// `text` split as a POSIX shell splits it (quotes and backslashes, nothing is expanded); none when
/// a quote is not closed.
std::optional<std::vector<std::string>> shell_words(std::string_view text);

}  // namespace autopack::google
