#pragma once

#include "cli/command.hpp"
#include "preflight/checks.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace autopack::cli {

/// A separate client that ends when its checks must, and its users. Cannot move, because the checks
/// refer to it.
class PreflightSources {
public:
  PreflightSources(Session& session, const job::Location& location);
  PreflightSources(const PreflightSources&) = delete;
  PreflightSources& operator=(const PreflightSources&) = delete;
  PreflightSources(PreflightSources&&) = delete;
  PreflightSources& operator=(PreflightSources&&) = delete;
  ~PreflightSources() = default;

  const preflight::Sources& sources() const { return sources_; }

  preflight::GoogleApis& apis() { return apis_; }

  http::Client& client() { return *client_; }

  /// Returns the logins of registries; thread-safe.
  const registry::CredentialSource& logins() const { return services_.credentials; }

  Cancellation& stop() { return stop_; }

private:
  ServiceMakers makers(const Environment& environment);

  Cancellation stop_{};
  std::shared_ptr<http::Client> client_;
  Services services_;
  preflight::GoogleApis apis_;
  preflight::ProjectFacts project_;
  preflight::Sources sources_;
};

/// Asks the services that `job` needs, and returns the findings.
Problems ask_services(Session& session,
                      const job::Location& location,
                      const preflight::PlannedJob& job);

/// Asks about the quotas of the same job in several places, and returns the findings about each.
std::vector<Problems> ask_quotas(Session& session, const std::vector<preflight::PlannedJob>& jobs);

}  // namespace autopack::cli
