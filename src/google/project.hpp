#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::google {

/// A named configuration of gcloud: its properties as `section/name` (`core/project`).
struct GcloudConfiguration {
  std::string name{};            ///< `default` if nothing names another
  std::filesystem::path path{};  ///< the file; may not exist
  std::map<std::string, std::string, std::less<>> properties{};

  /// Returns nothing if the property is not set or empty.
  std::optional<std::string> get(std::string_view property) const;
};

/// Reads the configuration `name` (`--configuration`), else that of CLOUDSDK_ACTIVE_CONFIG_NAME,
/// else the active one. A missing file has no properties, but a named configuration must exist:
/// throws Error(usage).
GcloudConfiguration read_gcloud_configuration(const Environment& environment,
                                              const std::optional<std::string>& name = {});

/// A resolved setting and its origin for messages.
struct Setting {
  std::optional<std::string> value{};  ///< absent if nothing sets it
  std::string origin{};
};

/// Returns the project from the first of `flag`, CLOUDSDK_CORE_PROJECT, GOOGLE_CLOUD_PROJECT,
/// GCLOUD_PROJECT, gcloud's configuration, and `of_credentials` (the project in a key file).
Setting find_project(const std::optional<std::string>& flag,
                     const Environment& environment,
                     const GcloudConfiguration& configuration,
                     const std::optional<std::string>& of_credentials);

/// Returns the region from the first of `flag`, CLOUDSDK_AI_REGION, gcloud's configuration
/// (`ai/region`).
Setting find_region(const std::optional<std::string>& flag,
                    const Environment& environment,
                    const GcloudConfiguration& configuration);

/// Returns gcloud's property `section/name` from CLOUDSDK_<SECTION>_<NAME>, else gcloud's
/// configuration.
Setting find_property(const std::string& property,
                      const Environment& environment,
                      const GcloudConfiguration& configuration);

/// Returns the requested account from `flag`, else CLOUDSDK_CORE_ACCOUNT. Ignores the account of
/// gcloud's configuration, because the user did not choose it for autopack.
Setting find_account(const std::optional<std::string>& flag, const Environment& environment);

/// Returns the service account to impersonate: `flag`, else the property
/// `auth/impersonate_service_account`.
Setting find_impersonation(const std::optional<std::string>& flag,
                           const Environment& environment,
                           const GcloudConfiguration& configuration);

/// Returns the address that replaces Google's own for `api` (`aiplatform`), from
/// CLOUDSDK_API_ENDPOINT_OVERRIDES_<API>, else gcloud's configuration
/// (`api_endpoint_overrides/<api>`). Returns nothing if it consists of slashes only.
Setting find_endpoint(const std::string& api,
                      const Environment& environment,
                      const GcloudConfiguration& configuration);

/// Returns the access token file from `flag`, CLOUDSDK_AUTH_ACCESS_TOKEN_FILE, or gcloud's
/// configuration
/// (`auth/access_token_file`).
Setting find_access_token_file(const std::optional<std::string>& flag,
                               const Environment& environment,
                               const GcloudConfiguration& configuration);

}  // namespace autopack::google
