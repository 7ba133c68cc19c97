#include "base/timestamp.hpp"

#include <fmt/chrono.h>

#include <ctime>

namespace autopack {

std::string in_rfc3339(std::int64_t seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

}  // namespace autopack
