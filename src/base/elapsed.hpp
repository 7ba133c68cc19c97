#pragma once

#include <chrono>
#include <string>

namespace autopack {

/// `0.4 s`, `12 s`, `3 min 5 s`: the one form in which a person reads how long something took.
std::string elapsed_text(std::chrono::steady_clock::duration elapsed);

}  // namespace autopack
