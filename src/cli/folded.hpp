#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace autopack::cli {

/// `text` for a terminal of so many columns: a longer line goes on between words in the next one,
/// below the text that stands behind its verb or name. What a hint says stays as it is, for it is
/// pasted.
std::string folded(std::string_view text, std::size_t columns);

/// `text` with digests of 64 digits cut to the 12 that people compare.
std::string with_short_digests(std::string_view text);

}  // namespace autopack::cli
