#pragma once

#include "base/error.hpp"
#include "build/docker/build_context.hpp"
#include "engine/docker.hpp"
#include "packaging/builder.hpp"
#include "plan/plan.hpp"
#include "services/services.hpp"
#include "source/selection.hpp"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::build {

/// The stage with the files that the installation of the project's package wrote.
inline constexpr auto* installed_stage = "installed";
/// The stage that installs it under observation, into `/autopack/out`.
inline constexpr auto* observed_stage = "observed";

/// The goal of a build with the docker engine: a whole image, one stage of it, or only the layers
/// above `parent`.
struct BuildGoal {
  std::string tag{};                   ///< empty: none
  std::optional<std::string> stage{};  ///< absent: all
  /// Name of the dependency image; only the code is added.
  std::optional<std::string> parent{};
  std::vector<std::string> left_out{};  ///< code files that are already in it
  packaging::Freshness freshness{packaging::Freshness::cached};
  /// Installs the project's own package on the executor image, without what it requires.
  bool is_own_alone{false};
};

/// Returns a random label for the image of a build that removes it after use. Without it, two
/// builds of the same contents at once would get the same image, and one would remove it too early.
std::map<std::string, std::string> unique_label();

/// What a builder can do.
struct BuilderTraits {
  bool buildkit{true};
  std::optional<Error> login_refusal{};  ///< see pip_files
  /// Returns the text after FROM that means exactly the executor image; called at most once.
  std::function<std::string()> base{};
};

/// A build, for any builder: its context with the Dockerfile, and its options. It refers to the
/// Packaging.
struct PreparedBuild {
  std::shared_ptr<const plan::ReadablePlan> plan{};
  ContextParts parts{};  ///< refers to `plan`
  std::map<std::string, std::string> labels{};
  bool no_cache{false};
};

/// Returns the build of `goal`. Throws Error(project) for a user's own Dockerfile that would
/// differ, and as pip_files.
PreparedBuild prepare_build(Services& services,
                            const packaging::Packaging& work,
                            const BuildGoal& goal,
                            const BuilderTraits& traits);

/// Builds `goal` of `work` with the engine.
engine::BuildResult build(Services& services,
                          const packaging::Packaging& work,
                          const BuildGoal& goal);

/// The context directory for the files of pip_files().
inline constexpr auto* pip_directory = ".autopack/pip";

/// Returns the pip settings of this machine as files of the context; empty if there are none.
/// `hosts` are those of additional indexes that a lock names. Throws `login_refusal`, if there is
/// one, if they contain a login.
std::vector<ContextFile> pip_files(Services& services,
                                   const project::Project& project,
                                   const std::vector<std::string>& hosts,
                                   const std::optional<Error>& login_refusal);

/// Returns the error for a login that `engine` would keep in the image; nothing if it keeps none.
std::optional<Error> login_refusal(const engine::EngineInfo& engine);

/// Reports where a build of a user's own Dockerfile would differ from docker's own command: errors
/// for files that it copies but a rule excludes, warnings for files whose mode is not kept and for
/// a Dockerfile that gets into the image. `place` is the Dockerfile's path in the context.
/// `directory` is where the files' modes are read; empty if they come from git.
Problems own_dockerfile_findings(const plan::ReadablePlan& plan,
                                 const source::Selection& ignore,
                                 const std::string& place,
                                 const std::filesystem::path& directory);

/// Returns "`sha256:... in 2.1 s, 3 of 7 steps cached`".
std::string built_text(const engine::BuildResult& result, std::chrono::steady_clock::duration time);

}  // namespace autopack::build
