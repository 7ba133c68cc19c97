#pragma once

#include "base/environment.hpp"
#include "cli/flags.hpp"
#include "job/origin.hpp"
#include "project/tool_settings.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::cli {

/// What a flag can reach beyond the project. A file that comes with the project needs the person's
/// own permission for it.
enum class Reach {
  nothing,    ///< affects only the image and the job
  path,       ///< a path of this machine
  paths,      ///< a list of paths
  volume,     ///< `HOST:DIR[:ro]`
  bucket,     ///< `BUCKET=DIRECTORY`
  output,     ///< `oci:DIR`, `tar:FILE`
  submitter,  ///< the place where the program runs
  pool,       ///< an object whose keys are flags
};

/// Returns the reach of every flag of every command, by name: `--volume`.
const std::map<std::string, Reach, std::less<>>& flag_reaches();

/// A setting of a project's file that reaches beyond the project.
struct ReachingSetting {
  std::string flag{};         ///< `--volume`
  std::string value{};        ///< as in the file: `/:/host`
  std::string reason{};       ///< "`/` is outside the project"
  std::string fingerprint{};  ///< of flag, value, and its target
  job::Origin origin{};
};

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
