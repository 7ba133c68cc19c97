#include "google/project.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/ini.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::google {

namespace {

/// The name becomes part of a path.
bool is_configuration_name(std::string_view name) {
  return !name.empty() && name.size() < 100 && name[0] != '-' && is_alphanumeric(name, "-_");
}

std::map<std::string, std::string, std::less<>> read_properties(std::string_view text) {
  std::map<std::string, std::string, std::less<>> properties;
  for (const auto& [section, options] : parse_ini(text)) {
    for (const auto& [name, value] : options) {
      properties[section + "/" + name] = value;
    }
  }
  return properties;
}

Setting of_environment(const Environment& environment, const std::string& variable) {
  const auto value = environment.get(variable);
  return value ? Setting{.value = *value, .origin = fmt::format("`{}`", variable)} : Setting{};
}

Setting of_configuration(const GcloudConfiguration& configuration, std::string_view property) {
  const auto value = configuration.get(property);
  return value ? Setting{.value = *value,
                         .origin = fmt::format("`{}` of gcloud's configuration `{}`", property,
                                               configuration.name)}
               : Setting{};
}

Setting of_text(const std::optional<std::string>& value, const char* origin) {
  return value ? Setting{.value = value, .origin = origin} : Setting{};
}

/// Returns the first setting with a value.
Setting first_of(std::initializer_list<Setting> settings) {
  const auto* const found =
      std::ranges::find_if(settings, [](const Setting& s) { return s.value.has_value(); });
  return found == settings.end() ? Setting{} : *found;
}

}  // namespace

std::optional<std::string> GcloudConfiguration::get(std::string_view property) const {
  const auto found = properties.find(property);
  return found == properties.end() || found->second.empty() ? std::nullopt
                                                            : std::optional{found->second};
}

GcloudConfiguration read_gcloud_configuration(const Environment& environment,
                                              const std::optional<std::string>& name) {
  const auto directory = environment.gcloud_directory();
  const auto wanted = first_of({of_text(name, "`--configuration`"),
                                of_environment(environment, "CLOUDSDK_ACTIVE_CONFIG_NAME")});
  GcloudConfiguration result{.name = wanted.value.value_or("")};
  if (!wanted.value) {
    const auto active = read_file_if_exists(directory / "active_config");
    result.name = active ? std::string{trim(*active)} : "";
    result.name = result.name.empty() ? "default" : result.name;
  }
  // gcloud's name for no configuration
  if (result.name == "NONE") {
    return result;
  }
  if (!is_configuration_name(result.name)) {
    throw Error(ErrorKind::usage, fmt::format("`{}` is not the name of a gcloud configuration",
                                              printable(result.name)));
  }
  result.path = directory / "configurations" / ("config_" + result.name);
  if (const auto text = read_file_if_exists(result.path)) {
    result.properties = read_properties(*text);
  } else if (wanted.value) {
    throw Error(ErrorKind::usage, fmt::format("gcloud has no configuration `{}`, which {} names",
                                              result.name, wanted.origin))
        .hint("list them: gcloud config configurations list");
  }
  return result;
}

Setting find_project(const std::optional<std::string>& flag,
                     const Environment& environment,
                     const GcloudConfiguration& configuration,
                     const std::optional<std::string>& of_credentials) {
  return first_of({of_text(flag, "`--project`"),
                   of_environment(environment, "CLOUDSDK_CORE_PROJECT"),
                   of_environment(environment, "GOOGLE_CLOUD_PROJECT"),
                   of_environment(environment, "GCLOUD_PROJECT"),
                   of_configuration(configuration, "core/project"),
                   of_text(of_credentials, "the credentials")});
}

Setting find_region(const std::optional<std::string>& flag,
                    const Environment& environment,
                    const GcloudConfiguration& configuration) {
  return first_of({of_text(flag, "`--region`"), of_environment(environment, "CLOUDSDK_AI_REGION"),
                   of_configuration(configuration, "ai/region")});
}

Setting find_property(const std::string& property,
                      const Environment& environment,
                      const GcloudConfiguration& configuration) {
  const std::string variable = "CLOUDSDK_" + to_upper(replace_all(property, "/", "_"));
  return first_of(
      {of_environment(environment, variable), of_configuration(configuration, property)});
}

Setting find_account(const std::optional<std::string>& flag, const Environment& environment) {
  return first_of(
      {of_text(flag, "`--account`"), of_environment(environment, "CLOUDSDK_CORE_ACCOUNT")});
}

Setting find_impersonation(const std::optional<std::string>& flag,
                           const Environment& environment,
                           const GcloudConfiguration& configuration) {
  return first_of({of_text(flag, "`--impersonate-service-account`"),
                   find_property("auth/impersonate_service_account", environment, configuration)});
}

Setting find_endpoint(const std::string& api,
                      const Environment& environment,
                      const GcloudConfiguration& configuration) {
  auto setting = find_property("api_endpoint_overrides/" + api, environment, configuration);
  const bool names_one =
      setting.value && setting.value->find_first_not_of('/') != std::string::npos;
  return names_one ? setting : Setting{};
}

Setting find_access_token_file(const std::optional<std::string>& flag,
                               const Environment& environment,
                               const GcloudConfiguration& configuration) {
  return first_of({of_text(flag, "`--access-token-file`"),
                   find_property("auth/access_token_file", environment, configuration)});
}

}  // namespace autopack::google
