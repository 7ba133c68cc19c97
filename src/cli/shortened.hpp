#pragma once

#include <string>
#include <string_view>

namespace autopack::cli {

/// `text` as a person may still want to read it: what is behind 8,000 bytes is only counted.
std::string shortened(std::string_view text);

/// `text` with each part between backticks that is longer than 240 bytes cut in its middle: it
/// repeats what a stranger wrote, a name, a version or a marker.
std::string with_short_names(std::string_view text);

}  // namespace autopack::cli
