#pragma once

#include "base/environment.hpp"
#include "gpu/fit.hpp"
#include "packaging/output.hpp"
#include "packaging/sbom_file.hpp"
#include "plan/plan.hpp"
#include "project/project.hpp"
#include "source/counted_tree.hpp"
#include "source/git.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::packaging {

/// Who makes the image. automatic: the direct engine if possible, else the docker engine.
enum class Engine { automatic, docker, direct };

/// Who chooses versions that the requirements leave open.
enum class Resolver { engine, uv };

/// What to package and how. The destination is an ImageName.
struct Request {
  project::Request project{};
  std::string executor_image{};
  plan::Options options{};
  std::optional<std::string> build_network{};
  bool no_cache{false};
  bool infers{false};           ///< missing values are inferred from the project
  bool strict{false};           ///< warnings are errors
  bool refuses_certain{false};  ///< a program that certainly fails at its start is an error
  /// Unpinned requirements are reinstalled if they are older; absent: never.
  std::optional<std::chrono::seconds> max_dependency_age{};
  Engine engine{Engine::automatic};
  Resolver resolver{Resolver::uv};
  /// A lock that uv made earlier for the requirements, to install the same versions again.
  std::optional<std::string> resolution{};
  /// Cloud Build does what would need an engine, and no engine is used.
  bool uses_cloud_build{false};
  std::optional<std::string> staging_bucket{};  ///< for what Cloud Build gets; absent: gcloud's
  std::vector<Output> outputs{};                ///< besides a registry, or instead of one
  std::vector<SbomFile> sboms{};                ///< for the bill of materials
  std::string source{source::worktree_source};  ///< `worktree`, `index` or the name of a commit
  bool label_git{false};                        ///< git's facts go into labels and key
  bool reports_git{false};                      ///< git's facts go into the result
  bool attests{false};  ///< documents about the image are attached to it in its registry
  std::optional<std::string> signing_key{};  ///< of cosign: a file or the URI of a KMS
  Environment environment{};                 ///< the variables that git uses
  /// The accelerators that the program gets, as far as they are known.
  std::vector<gpu::Device> devices{};
  /// Counts what is read of the project.
  std::shared_ptr<source::ReadCount> read_count{std::make_shared<source::ReadCount>()};

  /// False if no engine may be used.
  bool may_use_engine() const { return engine != Engine::direct && !uses_cloud_build; }

  /// True if documents list the packages of the image.
  bool lists_packages() const { return attests || !sboms.empty(); }

  /// True when the files come from git's objects, not from the disk.
  bool is_from_git() const { return source != source::worktree_source; }
};

}  // namespace autopack::packaging
