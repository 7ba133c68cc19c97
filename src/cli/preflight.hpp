#pragma once

#include "cli/command.hpp"
#include "pipeline/submission.hpp"
#include "preflight/checks.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace autopack::cli {

/// A client of its own that ends when its checks must, and what asks through it. Stays where it is:
/// the checks refer to it.
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

  /// The logins of registries, safe to look up from several threads.
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

/// What checks must know of a job that passed pipeline::check.
preflight::PlannedJob planned_job(const pipeline::SubmissionRequest& request,
                                  const pipeline::Checked& checked);

/// Before anything is built: tells warnings, and throws all errors at once. Asks services unless
/// `ask` is false or checks are skipped; what cannot be known is told with `-v` only.
void preflight_or_throw(Session& session,
                        const pipeline::SubmissionRequest& request,
                        const pipeline::Checked& checked,
                        bool ask);

}  // namespace autopack::cli
