#pragma once

#include "base/environment.hpp"
#include "google/api_error.hpp"
#include "google/credentials.hpp"
#include "google/project.hpp"
#include "http/client.hpp"
#include "preflight/problems.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace autopack::preflight {

/// The APIs that checks call.
enum class Service {
  aiplatform,
  artifactregistry,
  cloudresourcemanager,
  iam,
  serviceusage,
  storage,
  compute,
};

/// Returns `aiplatform.googleapis.com`.
std::string host_of(Service service);

/// The address of each API: CLOUDSDK_API_ENDPOINT_OVERRIDES_<NAME>, gcloud's property
/// `api_endpoint_overrides/<name>`, else Google's. Addresses have no trailing slash.
class Endpoints {
public:
  Endpoints(const Environment& environment,
            const google::GcloudConfiguration& configuration,
            std::optional<std::string> region);

  /// Returns nothing if the job goes to a service on this machine and this API has no such
  /// override: Google's own API would describe another project, and must not get the token.
  std::optional<std::string> root(Service service) const;

  /// Returns true if the job goes to a service on this machine.
  bool is_stand_in() const { return is_stand_in_; }

private:
  std::map<Service, std::string> overrides_;
  std::optional<std::string> region_;
  bool is_stand_in_{false};
};

/// A response, whatever its status.
struct ApiAnswer {
  int status{0};
  std::shared_ptr<const nlohmann::json> body{};  ///< never null; an object if `ok`
  google::ApiError error{};                      ///< if not `ok`

  bool ok() const { return status >= 200 && status < 300; }
};

struct GoogleApisOptions {
  Endpoints endpoints;
  http::Client* client{nullptr};
  /// Called on first use.
  std::function<std::unique_ptr<google::TokenSource>()> credentials{};
};

/// Google's APIs with the user's credentials. Thread-safe.
class GoogleApis {
public:
  explicit GoogleApis(GoogleApisOptions options) : options_{std::move(options)} {}

  /// Sends one request; `path` starts with `/`. Throws Error if it fails: no credentials, no
  /// connection, no such service here, or the response is not a JSON object.
  ApiAnswer get(Service service, const std::string& path);
  ApiAnswer post(Service service, const std::string& path, const nlohmann::json& body);

  const Endpoints& endpoints() const { return options_.endpoints; }

  /// Returns the credentials; throws as find_credentials does.
  google::TokenSource& credentials();

private:
  ApiAnswer send(http::Request request, Service service, const std::string& path);

  GoogleApisOptions options_;
  std::mutex mutex_;
  std::unique_ptr<google::TokenSource> credentials_{};
};

/// Returns why a refused request leaves the check without a result, with the command that allows
/// it. A disabled API (SERVICE_DISABLED) is an error only if the job itself needs it.
Problem refusal_finding(const std::string& check,
                        const std::string& what,
                        Service service,
                        const ApiAnswer& answer,
                        const std::string& project);

}  // namespace autopack::preflight
