#pragma once

#include "image/facts.hpp"
#include "pipeline/image_name.hpp"
#include "pipeline/output.hpp"
#include "pipeline/services.hpp"
#include "plan/changes.hpp"
#include "plan/plan.hpp"
#include "project/project.hpp"
#include "source/git.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// Who makes the image. Automatic: the direct engine where it can, the docker engine for what only
/// a build can do.
enum class Engine { automatic, docker, direct };

/// What to package and how. Where it goes is an ImageName.
struct PackageRequest {
  project::Request project{};
  std::string executor_image{};
  plan::Options options{};
  std::string build_network{};
  bool no_cache{false};
  bool strict{false};  ///< what is only warned of is refused
  /// What is not pinned is installed anew when it is older; none: never.
  std::optional<std::chrono::seconds> max_dependency_age{};
  Engine engine{Engine::automatic};
  std::vector<Output> outputs{};                ///< besides a registry, or instead of one
  std::string source{source::worktree_source};  ///< `worktree`, `index` or a commit's name
  bool label_git{false};                        ///< git's facts go into labels and key
  bool tells_git{false};                        ///< git's facts go into the result
  Environment environment{};                    ///< whose variables git obeys
};

/// The project's facts and the files they were found in.
struct Scanned {
  std::shared_ptr<const source::Tree> tree{};
  project::Project project{};
  std::optional<source::GitFacts> git{};  ///< only when the request wants them
};

/// Whether something was taken as it is or made anew, and why.
struct Outcome {
  bool reused{false};
  std::string reason{};  ///< follows "because": `requirements.txt changed (numpy 2.1 -> 2.2)`
};

/// How a project compares with what was last built of it on this machine.
struct Reasons {
  bool first{true};  ///< nothing was built of it here yet
  plan::Changes changes{};
  /// What to keep for the next time; none when that is there already.
  std::optional<state::BuildRecord> now{};
};

/// A packaged image, in the daemon or in a registry.
struct Image {
  std::string repository{};
  std::string tag{};       ///< `ap-<16 hex>`
  std::string image_id{};  ///< `sha256:...` of the configuration; empty when only a registry has it
  std::optional<Digest> digest{};  ///< of the manifest; none until it is pushed
  Outcome outcome{};
  std::optional<Outcome> dependencies{};  ///< none when nothing is installed
  std::string engine{"docker"};
  std::uint64_t bytes_uploaded{0};
  std::vector<engine::PushResult::Layer> layers{};
  std::optional<source::GitFacts> git{};

  /// What goes into a job: `repository@sha256:...`, or the image ID when no registry has it.
  std::string uri() const;
};

/// The file `path` as the request's source has it; none when it is not there.
std::optional<std::string> read_from_source(const PackageRequest& request,
                                            const std::filesystem::path& path);

/// Reads the project; all findings at once, before anything is built.
Scanned scan(const PackageRequest& request);

/// Decides everything. Warnings of project and plan are told.
plan::Plan decide(Services& services,
                  const PackageRequest& request,
                  const Scanned& scanned,
                  const image::BaseFacts& base);

/// Plans without engine and network, looks for secrets and tells advice: throws what a build would
/// refuse.
void check_offline(Services& services, const PackageRequest& request, const Scanned& scanned);

/// False for a user's own Dockerfile: what it starts from is not in the key, so only the builder's
/// cache can tell whether the image is still the same.
bool key_is_whole(const plan::Plan& plan);

/// Builds what `plan` says, or takes the image that has its key already.
Image build(Services& services,
            const PackageRequest& request,
            const Scanned& scanned,
            const plan::Plan& plan,
            const Reasons& reasons,
            const ImageName& name);

/// The image that the registry has for the key of `plan`, the user's own tag moved to it; none when
/// it has to be built.
std::optional<Image> pushed_before(Services& services,
                                   const PackageRequest& request,
                                   const Scanned& scanned,
                                   const plan::Plan& plan,
                                   const Reasons& reasons,
                                   const ImageName& name);

/// Builds the dependency image of `plan` and gives it the name `tagged`; its id.
std::string build_dependencies(Services& services,
                               const PackageRequest& request,
                               const Scanned& scanned,
                               const plan::Plan& plan,
                               const std::string& tagged);

/// What autopack says of an image in its labels.
std::map<std::string, std::string> labels_of(const plan::Plan& plan);

/// Pushes `image`, the user's own tag last.
void push(Services& services, const ImageName& name, Image& image);

/// The whole way: base, plan, image in the registry (or in the daemon when `name` has none, or with
/// `Push::no`), and in the outputs asked for; these alone when nothing is pushed.
enum class Push { yes, no };
Image package(Services& services,
              const PackageRequest& request,
              const Scanned& scanned,
              const ImageName& name,
              Push push);

/// The tag of what package_for_running made last.
inline constexpr auto* last_run_tag = "run";

/// The same for a program that is run here: the image stays in the daemon, and the one that the
/// last run of `name` left is removed when it is another.
Image package_for_running(Services& services,
                          const PackageRequest& request,
                          const Scanned& scanned,
                          const ImageName& name);

/// The `image` object of `--format=json`.
nlohmann::json to_json(const Image& image);

}  // namespace autopack::pipeline
