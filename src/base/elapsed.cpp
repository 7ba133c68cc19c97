#include "base/elapsed.hpp"

#include <fmt/format.h>

#include <cmath>

namespace autopack {

std::string elapsed_text(std::chrono::steady_clock::duration elapsed) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  if (seconds < 9.95) {
    return fmt::format("{:.1f} s", seconds);
  }
  const auto whole = std::llround(seconds);
  return whole < 120 ? fmt::format("{} s", whole)
                     : fmt::format("{} min {} s", whole / 60, whole % 60);
}

}  // namespace autopack
