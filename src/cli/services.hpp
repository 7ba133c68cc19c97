#pragma once

#include "cli/application.hpp"
#include "cli/global_options.hpp"
#include "services/services.hpp"

#include <memory>

namespace autopack::cli {

/// Returns the services of one command, by its global options. All arguments must outlive them.
std::unique_ptr<Services> make_services(const Surroundings& surroundings,
                                        const GlobalOptions& global,
                                        Reporter& reporter);

/// Returns the sources of registry logins, first to last: docker's files, podman's, and Google's
/// tokens from `google`.
registry::CredentialSource find_registry_logins(const Environment& environment,
                                                const std::function<google::TokenSource&()>& google,
                                                const Cancellation* cancellation = nullptr);

/// Returns Google's tokens by flags, environment and gcloud's configuration. Throws as
/// google::find_credentials does.
std::unique_ptr<google::TokenSource> find_google_credentials(const GlobalOptions& global,
                                                             Services& services);

/// Returns addresses, account, project and region for Cloud Build. Throws Error(environment) if
/// jobs go to this machine and Cloud Build has no replacement here.
google::CloudBuildOptions find_cloud_build(const GlobalOptions& global, Services& services);

/// Returns the address and the account for Artifact Registry.
google::ArtifactRegistryOptions find_artifact_registry(const GlobalOptions& global,
                                                       Services& services);

}  // namespace autopack::cli
