#pragma once

#include "base/environment.hpp"
#include "base/secret.hpp"
#include "project/project.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// The directory of PipSettings' files while pip runs in a build step. One of them is
/// `environment`, a shell file (`export PIP_CONFIG_FILE=...`) that is sourced before each call of
/// pip.
inline constexpr std::string_view pip_settings_directory{"/var/cache/autopack"};

/// How pip on this machine finds packages, as files for a build step. They contain secrets, so the
/// step gets them by a mount, never in a layer.
struct PipSettings {
  /// By name in pip_settings_directory: `pip.conf`, `netrc`, `cert.pem`, `client-cert.pem`, and
  /// `environment`, a shell file that makes pip read the others. Empty if nothing is set.
  std::map<std::string, Secret> files{};
  bool has_credentials{false};               ///< it contains a password, a token or a key
  std::optional<std::string> description{};  ///< one line without secrets, for `-v`
};

/// Collects the settings for finding packages from `PIP_*`, pip's configuration files and netrc,
/// merged as pip does: files of the machine, of the user, of the virtual environment,
/// PIP_CONFIG_FILE, variables. `hosts` and `variables` are those in requirement files; skips an
/// unset variable. Throws Error(environment) if a named certificate is missing.
PipSettings find_pip_settings(const Environment& environment,
                              const std::vector<std::string>& hosts = {},
                              const std::vector<std::string>& variables = {},
                              const std::filesystem::path& system = "/etc");

/// Makes pip apply `constraints` in the step.
void add_constraints(PipSettings& settings, const std::vector<ConstraintFile>& constraints);

}  // namespace autopack::project
