#pragma once

#include <chrono>
#include <string>

namespace autopack {

/// Returns a duration as users see it: `0.4 s`, `12 s`, `3 min 5 s`.
std::string elapsed_text(std::chrono::steady_clock::duration elapsed);

}  // namespace autopack
