#pragma once

#include "base/secret.hpp"
#include "http/client.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace autopack::google {

/// The caller's keys at AWS; a user's own keys have no `session`.
struct AwsKeys {
  std::string id{};
  Secret key{};
  std::optional<Secret> session{};
};

/// Returns the headers that authenticate a POST without a body to `url` (https, no user
/// information) at AWS: Signature Version 4, sorted by name. They include `target` as
/// `x-goog-cloud-target-resource`. `now` is in seconds since the epoch.
std::vector<http::Header> sign_aws_request(const std::string& url,
                                           const std::string& region,
                                           const std::string& target,
                                           const AwsKeys& keys,
                                           std::int64_t now);

}  // namespace autopack::google
