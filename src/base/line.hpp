#pragma once

#include <string>
#include <string_view>

namespace autopack {

/// Returns `text` with each run of ASCII white space replaced by one space, and without white space
/// at the ends.
std::string single_spaced(std::string_view text);

}  // namespace autopack
