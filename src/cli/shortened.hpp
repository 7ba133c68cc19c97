#pragma once

#include <string>
#include <string_view>

namespace autopack::cli {

/// Returns the first 8,000 bytes of `text`, and the number of the others.
std::string shortened(std::string_view text);

/// Shortens each part of `text` between backticks that is longer than 240 bytes in its middle: such
/// parts quote untrusted text, a name, a version or a marker.
std::string with_short_names(std::string_view text);

}  // namespace autopack::cli
