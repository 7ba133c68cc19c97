#pragma once

#include <cstdint>
#include <string>

namespace autopack {

/// Returns a time in seconds since 1970 in RFC 3339 format: `2026-11-29T18:00:00Z`.
std::string in_rfc3339(std::int64_t seconds);

}  // namespace autopack
