#pragma once

#include "google/storage.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>

namespace autopack::build {

/// The machines of Cloud Build's default pool.
inline constexpr auto* cloud_platform = "linux/amd64";
/// A longer build ends with TIMEOUT, a longer wait for a machine with EXPIRED.
inline constexpr std::chrono::hours longest_cloud_build{2};
inline constexpr std::chrono::hours longest_cloud_queue{1};
/// The directory of a bucket for sources and logs.
inline constexpr auto* cloud_directory = "autopack";

/// A `docker build` in Cloud Build, and a push.
struct CloudRequest {
  google::StoredObject source{};
  std::string dockerfile{};            ///< its path in the source
  std::string image{};                 ///< with its tag
  std::optional<std::string> stage{};  ///< absent: the last
  std::map<std::string, std::string> labels{};
  std::optional<std::string> network{};
  bool no_cache{false};
  std::string tag{};  ///< that no other build has
};

/// Returns the body of the create, a `Build`.
nlohmann::json to_json(const CloudRequest& request);

/// Returns a random tag for a build. Cloud Build's create has no request id.
std::string new_build_tag();

/// Returns the log of build `id`, which appears while it runs.
google::StoredObject log_of(const google::StoredObject& source, const std::string& id);

}  // namespace autopack::build
