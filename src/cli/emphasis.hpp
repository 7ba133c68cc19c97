#pragma once

#include "cli/error_text.hpp"

#include <string>
#include <string_view>

namespace autopack::cli {

/// Returns `text` with its headings bold: the lines that begin with a capital letter after an empty
/// line or at the start.
std::string with_headings(std::string_view text, const Paint& paint);

/// Returns a diff with added lines green, removed ones red, and the other lines that begin with a
/// capital letter bold.
std::string with_changes(std::string_view text, const Paint& paint);

}  // namespace autopack::cli
