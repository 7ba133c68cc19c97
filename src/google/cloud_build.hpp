#pragma once

#include "google/service.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace autopack::google {

/// A build as the API returns it.
using Build = std::shared_ptr<const nlohmann::json>;

/// Where builds run.
struct BuildPlace {
  std::string project{};
  std::string region{};  ///< `us-central1`, or `global`
};

/// The build methods of Cloud Build's REST API.
class Builds {
public:
  /// `endpoint_override` is CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDBUILD, used unchanged.
  Builds(Service& service, BuildPlace place, std::optional<std::string> endpoint_override)
      : service_{&service}, place_{std::move(place)}, override_{std::move(endpoint_override)} {}

  const BuildPlace& place() const { return place_; }

  Service& service() const { return *service_; }

  Call create_call(std::string body) const;
  /// Returns the error for a refused call: as google::refusal, but with the role for builds.
  Error refused(const std::string& message, const Call& call, const http::Response& response) const;

  /// Returns null if there is no such build. Tries once.
  Build get(const std::string& id) const;
  /// Calls `each` with each build that has the tag until it returns false.
  void list(const std::string& tag, const std::function<bool(const Build& build)>& each) const;
  /// Ends a build; not an error if it has already ended.
  void cancel(const std::string& id) const;

  /// Returns the same builds over another service.
  Builds over(Service& service) const { return {service, place_, override_}; }

private:
  std::string url(const std::string& path) const;

  Service* service_;
  BuildPlace place_;
  std::optional<std::string> override_;
};

/// Returns the build in the response to a create, an operation. Throws Error(remote) unless it has
/// a build with an id.
Build read_created_build(const Call& call, const http::Response& response);

/// Returns the object or the list at `key`; an empty one if there is none, or something else.
const nlohmann::json& object_in(const nlohmann::json& object, const char* key);
const nlohmann::json& list_in(const nlohmann::json& object, const char* key);

/// Returns the page of a build in the Google Cloud console; empty if it names none there.
std::string build_page(const nlohmann::json& build);

/// How to reach Cloud Build and the bucket for its sources.
struct CloudBuildOptions {
  ServiceOptions service{};
  /// Returns a client that the user's interruption does not stop.
  std::function<http::Client&()> uninterrupted{};
  std::optional<std::string> project{};            ///< absent: that of the image's repository
  std::optional<std::string> region{};             ///< absent: that of the image's repository
  std::optional<std::string> endpoint_override{};  ///< of Cloud Build
  std::optional<std::string> storage_override{};   ///< of Cloud Storage
};

}  // namespace autopack::google
