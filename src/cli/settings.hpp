#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"
#include "cli/flags.hpp"
#include "job/origin.hpp"
#include "job/settings_file.hpp"
#include "project/tool_settings.hpp"

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// The name of the project's settings file.
inline constexpr const char* settings_file_name{"autopack.yaml"};

/// A setting of a project's file that reaches beyond the project.
struct ReachingSetting {
  std::string flag{};         ///< `--volume`
  std::string value{};        ///< as in the file: `/:/host`
  std::string reason{};       ///< "`/` is outside the project"
  std::string fingerprint{};  ///< of flag, value, and its target
  job::Origin origin{};
  bool is_document{false};  ///< the file has the object itself, not a value of the flag
};

/// The settings in files.
struct Settings {
  std::vector<FlagSetting> values{};
  std::vector<ReachingSetting> reaching{};  ///< settings of the project that reach beyond it
  Problems warnings{};
};

/// The ways to name a program, of which a project has one.
inline constexpr std::array<std::string_view, 3> program_settings{"script", "python-module",
                                                                  "command"};

/// Determines where to look for settings.
struct SettingsPlace {
  std::optional<std::filesystem::path> named{};  ///< the typed settings file of the project
  /// True for a command that packages: then the project's file comes from its `--source`.
  bool packages{false};
  std::optional<std::string> source{};  ///< `--source` as typed; absent: a file may still set it
  /// True if the command line or a variable names a program: the files' programs do not count then.
  bool has_program{false};
  std::optional<std::string> target{};  ///< `--to`
  /// True to find what reaches beyond the project in every target, not only in the chosen one.
  bool all_targets{false};
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

/// What a flag can reach beyond the project. A file that comes with the project needs the person's
/// own permission for it.
enum class Reach {
  nothing,         ///< affects only the image and the job
  path,            ///< a path of this machine
  paths,           ///< a list of paths
  volume,          ///< `HOST:DIR[:ro]`
  bucket,          ///< `BUCKET=DIRECTORY`
  output,          ///< `oci:DIR`, `tar:FILE`
  submitter,       ///< the place where the program runs
  pod_template,    ///< a path, or what the pods of a cluster may reach
  builder,         ///< who builds
  staging_bucket,  ///< the bucket for the project's files
  signing_key,     ///< the user's key
  pool,            ///< an object whose keys are flags
};

/// Returns the reach of every flag of every command, by name: `--volume`.
const std::map<std::string, Reach, std::less<>>& flag_reaches();

/// Returns the settings of the project's files that reach beyond the working directory and are not
/// also in the user's own settings `of_user`. Paths below the working directory, after following
/// links, belong to the project.
std::vector<ReachingSetting> reaching_settings(const std::vector<project::ToolSetting>& of_project,
                                               const std::vector<project::ToolSetting>& of_user,
                                               const Environment& environment);

/// Throws Error(usage) with each of `settings` that applies: `flags`, which were parsed without
/// settings, contain its flag without a value, and `autopack trust` did not allow it.
void refuse_untrusted(std::vector<ReachingSetting> settings,
                      const FlagSet& flags,
                      const Environment& environment);

}  // namespace autopack::cli
