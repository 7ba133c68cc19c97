#include "base/line.hpp"

#include "base/text.hpp"

namespace autopack {

std::string single_spaced(std::string_view text) {
  static constexpr std::string_view white{" \t\r\n\f\v"};
  std::string result;
  for (const char c : trim(text)) {
    const bool space = white.find(c) != std::string_view::npos;
    if (!space || result.back() != ' ') {
      result += space ? ' ' : c;
    }
  }
  return result;
}

}  // namespace autopack
