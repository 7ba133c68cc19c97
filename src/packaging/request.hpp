#pragma once

#include "base/environment.hpp"
#include "packaging/output.hpp"
#include "plan/plan.hpp"
#include "project/project.hpp"
#include "source/git.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace autopack::packaging {

/// Who makes the image. Automatic: the direct engine where it can, the docker engine for what only
/// a build can do.
enum class Engine { automatic, docker, direct };

/// What to package and how. Where it goes is an ImageName.
struct Request {
  project::Request project{};
  std::string executor_image{};
  plan::Options options{};
  std::optional<std::string> build_network{};
  bool no_cache{false};
  bool infers{false};           ///< what is not said is inferred from the project
  bool strict{false};           ///< what is only warned of is refused
  bool refuses_certain{false};  ///< so is a program that certainly ends at its start
  /// What is not pinned is installed anew when it is older; none: never.
  std::optional<std::chrono::seconds> max_dependency_age{};
  Engine engine{Engine::automatic};
  std::vector<Output> outputs{};                ///< besides a registry, or instead of one
  std::string source{source::worktree_source};  ///< `worktree`, `index` or a commit's name
  bool label_git{false};                        ///< git's facts go into labels and key
  bool tells_git{false};                        ///< git's facts go into the result
  Environment environment{};                    ///< whose variables git obeys

  /// True when the files come from git's objects, not from the disk.
  bool is_from_git() const { return source != source::worktree_source; }
};

}  // namespace autopack::packaging
