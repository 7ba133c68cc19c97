#pragma once

#include <string>
#include <string_view>

namespace autopack {

/// `text` with `prefix` and four hexadecimal digits for each character that shows it otherwise than
/// it is written: those that change its direction, invisible ones, and controls beyond ASCII. With
/// `\u` a JSON text stays what it is.
std::string escape_misleading(std::string_view text, std::string_view prefix);

}  // namespace autopack
