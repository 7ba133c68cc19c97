#pragma once

#include <string>
#include <string_view>

namespace autopack {

/// Returns the HMAC with SHA-256 (RFC 2104): 32 bytes.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace autopack
