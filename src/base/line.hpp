#pragma once

#include <string>
#include <string_view>

namespace autopack {

/// `text` with each run of ASCII white space made one space, and none at both ends.
std::string single_spaced(std::string_view text);

}  // namespace autopack
