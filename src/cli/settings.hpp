#pragma once

#include "base/error.hpp"
#include "cli/flags.hpp"
#include "cli/trust.hpp"
#include "job/settings_file.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The name of the project's settings file.
inline constexpr const char* settings_file_name{"autopack.yaml"};

/// The settings in files.
struct Settings {
  std::vector<FlagSetting> values{};
  std::vector<ReachingSetting> reaching{};  ///< settings of the project that reach beyond it
  Problems warnings{};
};

/// Determines where to look for settings.
struct SettingsPlace {
  std::optional<std::filesystem::path> named{};  ///< the typed settings file of the project
  /// True for a command that packages: then the project's file comes from its `--source`.
  bool packages{false};
  std::optional<std::string> source{};  ///< `--source` as typed; absent: a file may still set it
};

/// Returns the settings for the working directory: of the named file, else of `autopack.yaml` or
/// `[tool.autopack]` in `pyproject.toml`; then the user's, `$XDG_CONFIG_HOME/autopack/config.yaml`.
/// With a source in git, the project's settings come from there, like its files; warns about a file
/// that is only on the disk. Throws Error(usage) with all findings: unknown keys, unreadable
/// values, two settings files of the project.
Settings find_settings(const Environment& environment, const SettingsPlace& place);

/// Returns the user's settings file; it need not exist.
std::filesystem::path user_settings_file(const Environment& environment);

/// Appends the typed flags to `autopack.yaml` of the working directory, and trusts those that reach
/// beyond the project, because the person typed them. Returns the new keys. Throws Error(usage) if
/// a key already has another value.
std::vector<std::string> save_settings(const FlagSet& flags, const Environment& environment);

/// Returns the JSON schema of `autopack.yaml`, for editors.
std::string settings_schema();

}  // namespace autopack::cli
