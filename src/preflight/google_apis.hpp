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

/// The APIs that checks ask.
enum class Service {
  aiplatform,
  artifactregistry,
  cloudresourcemanager,
  iam,
  serviceusage,
  storage,
  compute,
};

/// `aiplatform.googleapis.com`.
std::string host_of(Service service);

/// Where each API is reached: CLOUDSDK_API_ENDPOINT_OVERRIDES_<NAME>, gcloud's property
/// `api_endpoint_overrides/<name>`, else Google's. Roots without a trailing slash.
class Endpoints {
public:
  Endpoints(const Environment& environment,
            const google::GcloudConfiguration& configuration,
            std::optional<std::string> region);

  /// None when the job goes to a service on this machine and this API has no such override: what
  /// Google's own would say, and who would get the token, would be wrong.
  std::optional<std::string> root(Service service) const;

  /// The job goes to a service on this machine.
  bool is_stand_in() const { return is_stand_in_; }

private:
  std::map<Service, std::string> overrides_;
  std::optional<std::string> region_;
  bool is_stand_in_{false};
};

/// An answer, whatever its status.
struct ApiAnswer {
  int status{0};
  std::shared_ptr<const nlohmann::json> body{};  ///< never null; an object when `ok`
  google::ApiError error{};                      ///< when not `ok`

  bool ok() const { return status >= 200 && status < 300; }
};

struct GoogleApisOptions {
  Endpoints endpoints;
  http::Client* client{nullptr};
  /// Makes the credentials when first needed.
  std::function<std::unique_ptr<google::TokenSource>()> credentials{};
};

/// Google's APIs with the user's credentials. Safe to use from several threads.
class GoogleApis {
public:
  explicit GoogleApis(GoogleApisOptions options) : options_{std::move(options)} {}

  /// Sends one request; `path` starts with `/`. Throws Error when it cannot be made: no
  /// credentials, no connection, no such service here, an answer that is no JSON object.
  ApiAnswer get(Service service, const std::string& path);
  ApiAnswer post(Service service, const std::string& path, const nlohmann::json& body);

  const Endpoints& endpoints() const { return options_.endpoints; }

  /// The credentials; Error as find_credentials.
  google::TokenSource& credentials();

private:
  ApiAnswer send(http::Request request, Service service, const std::string& path);

  GoogleApisOptions options_;
  std::mutex mutex_;
  std::unique_ptr<google::TokenSource> credentials_{};
};

/// Why a request that was refused leaves the check open, with the command that lets it run. An API
/// that is off (SERVICE_DISABLED) is an error only when the job itself needs it.
Problem refusal_finding(const std::string& check,
                        const std::string& what,
                        Service service,
                        const ApiAnswer& answer,
                        const std::string& project);

}  // namespace autopack::preflight
