#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::google {

/// gcloud's named configuration on this machine: properties as `section/name` (`core/project`).
struct GcloudConfiguration {
  std::string name{};            ///< `default` when nothing names another
  std::filesystem::path path{};  ///< the file; may not exist
  std::map<std::string, std::string, std::less<>> properties{};

  /// None when the property is not set or empty.
  std::optional<std::string> get(std::string_view property) const;
};

/// Reads the configuration `name` (`--configuration`), or without that the one of
/// CLOUDSDK_ACTIVE_CONFIG_NAME, or the active one. A file that is not there gives no properties,
/// but a configuration that was named must exist: Error(usage).
GcloudConfiguration read_gcloud_configuration(const Environment& environment,
                                              const std::optional<std::string>& name = {});

/// A resolved setting and, in words, where it came from.
struct Setting {
  std::optional<std::string> value{};  ///< none when nothing sets it
  std::string origin{};
};

/// The project: `flag`, CLOUDSDK_CORE_PROJECT, GOOGLE_CLOUD_PROJECT, GCLOUD_PROJECT, gcloud's
/// configuration, then `of_credentials` (the project a key file names).
Setting find_project(const std::optional<std::string>& flag,
                     const Environment& environment,
                     const GcloudConfiguration& configuration,
                     const std::optional<std::string>& of_credentials);

/// The region: `flag`, CLOUDSDK_AI_REGION, gcloud's configuration (`ai/region`).
Setting find_region(const std::optional<std::string>& flag,
                    const Environment& environment,
                    const GcloudConfiguration& configuration);

/// gcloud's property `section/name`: CLOUDSDK_<SECTION>_<NAME>, gcloud's configuration.
Setting find_property(const std::string& property,
                      const Environment& environment,
                      const GcloudConfiguration& configuration);

/// The account that was asked for: `flag`, CLOUDSDK_CORE_ACCOUNT. That of gcloud's configuration
/// is not among them: it is what gcloud happens to use.
Setting find_account(const std::optional<std::string>& flag, const Environment& environment);

/// The service account to act as: `flag`, then as a property (`auth/impersonate_service_account`).
Setting find_impersonation(const std::optional<std::string>& flag,
                           const Environment& environment,
                           const GcloudConfiguration& configuration);

/// Where to call `api` (`aiplatform`) instead of Google's own address:
/// CLOUDSDK_API_ENDPOINT_OVERRIDES_<API>, gcloud's configuration (`api_endpoint_overrides/<api>`).
/// None when it is nothing but slashes.
Setting find_endpoint(const std::string& api,
                      const Environment& environment,
                      const GcloudConfiguration& configuration);

/// The access token file: `flag`, CLOUDSDK_AUTH_ACCESS_TOKEN_FILE, gcloud's configuration
/// (`auth/access_token_file`).
Setting find_access_token_file(const std::optional<std::string>& flag,
                               const Environment& environment,
                               const GcloudConfiguration& configuration);

}  // namespace autopack::google
