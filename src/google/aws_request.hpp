#pragma once

#include "base/secret.hpp"
#include "http/client.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace autopack::google {

/// What AWS knows a caller by; there is no `session` for a user's own keys.
struct AwsKeys {
  std::string id{};
  Secret key{};
  std::optional<Secret> session{};
};

/// The headers of a POST of nothing to `url` (https, no user information) that AWS takes as the
/// caller's own, `target` among them as `x-goog-cloud-target-resource`: Signature Version 4, sorted
/// by name. `now` is in seconds since the epoch.
std::vector<http::Header> sign_aws_request(const std::string& url,
                                           const std::string& region,
                                           const std::string& target,
                                           const AwsKeys& keys,
                                           std::int64_t now);

}  // namespace autopack::google
