#pragma once

#include <cstdlib>
#include <string_view>

namespace autopack::testing {

/// Returns how much of a sweep runs: `daily`, or `all` if AUTOPACK_TESTS selects the nightly or the
/// long form.
inline unsigned sample(unsigned daily, unsigned all) {
  const char* const form = std::getenv("AUTOPACK_TESTS");
  return form == nullptr || std::string_view{form} == "daily" ? daily : all;
}

}  // namespace autopack::testing
