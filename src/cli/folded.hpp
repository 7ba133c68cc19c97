#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace autopack::cli {

/// Folds `text` for a terminal of so many columns: a longer line continues on the next one, between
/// words, below the text after its verb or name. Does not fold commands of hints, because they are
/// pasted.
std::string folded(std::string_view text, std::size_t columns);

/// Returns `text` with digests shortened from 64 digits to the 12 that people compare.
std::string with_short_digests(std::string_view text);

}  // namespace autopack::cli
