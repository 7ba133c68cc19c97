#pragma once

#include <string>
#include <string_view>

namespace autopack::cli {

/// `text` as a person may still want to read it: what is behind 8,000 bytes is only counted.
std::string shortened(std::string_view text);

}  // namespace autopack::cli
