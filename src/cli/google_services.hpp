#pragma once

#include "base/text.hpp"
#include "cli/command.hpp"
#include "google/jobs.hpp"

#include <optional>
#include <string>

namespace autopack::cli {

/// Google's APIs for a command: its credentials, endpoints and client.
class GoogleServices {
public:
  /// Does not look for credentials yet. Throws Error(usage) as read_gcloud_configuration does.
  explicit GoogleServices(Session& session);
  GoogleServices(const GoogleServices&) = delete;
  GoogleServices& operator=(const GoogleServices&) = delete;
  GoogleServices(GoogleServices&&) = delete;
  GoogleServices& operator=(GoogleServices&&) = delete;
  ~GoogleServices() = default;

  google::Service& service() { return service_; }

  google::Jobs jobs() { return {service_, aiplatform_}; }

  /// Returns `CLOUDSDK_API_ENDPOINT_OVERRIDES_...`, or gcloud's property; nothing: the API's own
  /// address. If jobs go to this machine, logs are read from there too.
  const std::optional<std::string>& aiplatform_override() const { return aiplatform_; }

  const std::optional<std::string>& logging_override() const { return logging_; }

private:
  google::Service service_;
  std::optional<std::string> aiplatform_;
  std::optional<std::string> logging_;
};

}  // namespace autopack::cli
