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

/// The name of the project's own file of settings.
inline constexpr const char* settings_file_name{"autopack.yaml"};

/// What files say.
struct Settings {
  std::vector<FlagSetting> values{};
  std::vector<ReachingSetting> reaching{};  ///< of the project, beyond it
  Problems warnings{};
};

/// What decides where settings are looked for.
struct SettingsPlace {
  std::optional<std::filesystem::path> named{};  ///< the project's file that was typed
  /// True for a command that packages: the project's file is then the one of its `--source`.
  bool packages{false};
  std::optional<std::string> source{};  ///< `--source` as typed; none: a file may still say it
};

/// The settings that apply in the working directory: of the named file, else of `autopack.yaml` or
/// of `[tool.autopack]` in `pyproject.toml`; then the user's,
/// `$XDG_CONFIG_HOME/autopack/config.yaml`. With a source in git, the project's come from there,
/// like the files they speak of; a file that only the disk has is a warning. Error(usage) with all
/// findings: keys that no command knows, values that cannot be read, two files of the project.
Settings find_settings(const Environment& environment, const SettingsPlace& place);

/// The user's own file of settings; it need not exist.
std::filesystem::path user_settings_file(const Environment& environment);

/// Writes the flags that were typed into `autopack.yaml` of the working directory, below what is
/// there, and trusts what of them reaches beyond the project: the person typed it. Returns the keys
/// that are new there. Error(usage) when one is there with another value.
std::vector<std::string> save_settings(const FlagSet& flags, const Environment& environment);

/// The JSON schema of `autopack.yaml`, for editors.
std::string settings_schema();

}  // namespace autopack::cli
