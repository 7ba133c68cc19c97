#pragma once

#include <string>
#include <string_view>

namespace autopack {

/// Returns `text` with `prefix` and four hexadecimal digits for each character that makes it look
/// different from its contents: those that change its direction, invisible ones, and control
/// characters beyond ASCII. With `\u`, a JSON text keeps its meaning.
std::string escape_misleading(std::string_view text, std::string_view prefix);

}  // namespace autopack
