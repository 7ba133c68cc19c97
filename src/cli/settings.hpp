#pragma once

#include "cli/flags.hpp"
#include "job/settings_file.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::cli {

/// The name of the project's own file of settings.
inline constexpr const char* settings_file_name{"autopack.yaml"};

/// The settings that apply in the working directory: of `named` when it is not empty, else of
/// `autopack.yaml` or of `[tool.autopack]` in `pyproject.toml`; then the user's,
/// `$XDG_CONFIG_HOME/autopack/config.yaml`. Error(usage) with all findings: keys that no command
/// knows, values that cannot be read, two files of the project.
std::vector<FlagSetting> find_settings(const Environment& environment,
                                       const std::filesystem::path& named);

/// The user's own file of settings; it need not exist.
std::filesystem::path user_settings_file(const Environment& environment);

/// Writes the flags that were typed into `autopack.yaml` of the working directory, below what is
/// there. Returns the keys that are new there. Error(usage) when one is there with another value.
std::vector<std::string> save_settings(const FlagSet& flags);

/// The JSON schema of `autopack.yaml`, for editors.
std::string settings_schema();

}  // namespace autopack::cli
