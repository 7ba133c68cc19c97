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

/// What a flag can reach beyond the project, so that a file which travels with the project needs
/// the person's own word for it.
enum class Reach {
  nothing,    ///< says what the image holds and the job is
  path,       ///< a path of this machine
  paths,      ///< a list of paths
  volume,     ///< `HOST:DIR[:ro]`
  bucket,     ///< `BUCKET=DIRECTORY`
  output,     ///< `oci:DIR`, `tar:FILE`
  submitter,  ///< where the program runs
  pool,       ///< an object whose keys are flags
};

/// The reach of every flag of every command, by name: `--volume`.
const std::map<std::string, Reach, std::less<>>& flag_reaches();

/// A setting of a project's file that reaches beyond the project.
struct ReachingSetting {
  std::string flag{};         ///< `--volume`
  std::string value{};        ///< as the file has it: `/:/host`
  std::string reason{};       ///< "`/` is outside the project"
  std::string fingerprint{};  ///< of flag, value, and where it leads
  job::Origin origin{};
};

/// The settings of the project's files that reach beyond the working directory, and that the user's
/// own settings `of_user` do not say, too. Paths below the working directory, links followed, are
/// the project's own.
std::vector<ReachingSetting> reaching_settings(const std::vector<project::ToolSetting>& of_project,
                                               const std::vector<project::ToolSetting>& of_user,
                                               const Environment& environment);

/// Throws Error(usage) with each of `settings` that counts: `flags`, which were read without
/// settings, have its flag, were not given it, and `autopack trust` did not allow it.
void refuse_untrusted(std::vector<ReachingSetting> settings,
                      const FlagSet& flags,
                      const Environment& environment);

}  // namespace autopack::cli
