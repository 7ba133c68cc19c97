#pragma once

#include "kubernetes/api.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/state.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <optional>
#include <string>

namespace autopack::kubernetes {

/// An object of a cluster that runs a job.
struct FoundObject {
  ObjectKind kind{ObjectKind::job};
  std::shared_ptr<const nlohmann::json> object{};
};

/// Reads the state of a job in a cluster, and why it waits.
class Observer {
public:
  Observer(Api& api, std::string name_space) : api_{api}, name_space_{std::move(name_space)} {}

  /// Returns the object with this name that autopack created, or nothing. Throws Error(remote) if
  /// no kind of object may be read.
  std::optional<FoundObject> find(const std::string& name);

  /// Returns the object with its pods, and what says why it does not run. What the login may not
  /// read is left out.
  Observed look(const FoundObject& found);

  /// Returns the path of the objects of this kind.
  std::string collection(ObjectKind kind) const;
  /// Returns the call that reads the object.
  ApiCall object_call(ObjectKind kind, const std::string& name) const;
  /// Returns the query that selects the pods of an object.
  static std::string pods_query(ObjectKind kind, const std::string& name);

  std::string pods_path() const { return collection_path("v1", name_space_, "pods"); }

private:
  using List = std::shared_ptr<const nlohmann::json>;

  List read_list(const std::string& path, const std::string& query);
  List events_of(const FoundObject& found);
  std::shared_ptr<const nlohmann::json> workload_of(const nlohmann::json& object);
  std::optional<std::int64_t> position_of(const nlohmann::json& object,
                                          const nlohmann::json& workload);
  std::string version_of(const std::string& group, std::optional<std::string>& known);

  Api& api_;
  std::string name_space_;
  std::optional<std::string> kueue_{};       ///< its preferred version; empty without it
  std::optional<std::string> visibility_{};  ///< likewise
};

/// Returns true if autopack created the object.
bool is_ours(const nlohmann::json& object);

}  // namespace autopack::kubernetes
