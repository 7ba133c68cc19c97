#pragma once

#include "kubernetes/objects.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::kubernetes {

/// The name of a job: `kubernetes/CONTEXT/NAMESPACE/NAME`. A context may contain slashes.
struct ObjectName {
  std::string context{};
  std::string name_space{};
  std::string name{};

  /// Returns nothing if `text` is not such a name.
  static std::optional<ObjectName> parse(std::string_view text);

  std::string text() const;
};

/// The state of a job in a cluster. Parts that the user may not read are absent.
struct Observed {
  ObjectKind kind{ObjectKind::job};
  std::shared_ptr<const nlohmann::json> object{};
  std::shared_ptr<const nlohmann::json> pods{};    ///< a list
  std::shared_ptr<const nlohmann::json> events{};  ///< a list: of the object and of its Jobs
  std::shared_ptr<const nlohmann::json> jobs{};    ///< a list: of a failed JobSet
  std::shared_ptr<const nlohmann::json> workload{};
  std::optional<std::int64_t> position{};  ///< in its queue, from 0
};

/// Returns the job in the form of Vertex AI's API, with the cluster's reason as `detail`.
nlohmann::json job_of(const Observed& observed, const std::string& context);

/// Returns the job after its object has disappeared: `before` with the state CANCELLED, unless it
/// had ended.
nlohmann::json vanished(nlohmann::json before);

/// Returns the replica of a pod: `workerpool1-0`.
std::string replica_of(const nlohmann::json& pod);

/// A container of a pod whose log can be read.
struct ReadableLog {
  std::string pod{};
  std::string uid{};
  std::string container{};
  std::string replica{};
  std::int64_t restarts{0};
  bool has_ended{false};
};

/// Returns the log of the program in `pod`; nothing if it has not started.
std::optional<ReadableLog> readable_log(const nlohmann::json& pod);

}  // namespace autopack::kubernetes
