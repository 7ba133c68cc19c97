#include "base/text.hpp"
#include "engine/build_context.hpp"
#include "image/file_reference.hpp"
#include "image/tar.hpp"
#include "pipeline/age.hpp"
#include "pipeline/direct.hpp"
#include "pipeline/files.hpp"
#include "pipeline/installation.hpp"
#include "pipeline/loading.hpp"
#include "pipeline/own_dockerfile.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/reuse.hpp"
#include "pipeline/scan.hpp"
#include "plan/install_record.hpp"
#include "project/pip_settings.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace autopack::pipeline {

namespace {

/// In the context that is sent: what the user's files must not meet.
constexpr auto* project_directory = "project";
constexpr auto* pip_directory = ".autopack/pip";
constexpr auto* observer_directory = ".autopack/observe";

constexpr auto* key_label = "autopack.key";

/// The image in the daemon that was built for the same key.
std::optional<engine::LocalImage> built_before(engine::Docker& docker,
                                               const plan::Plan& plan,
                                               const std::string& tagged) {
  auto local = docker.inspect(tagged);
  if (!local) {
    return std::nullopt;
  }
  const auto label = local->labels.find(key_label);
  return label != local->labels.end() && label->second == plan.image_key ? local : std::nullopt;
}

std::string built_text(const engine::BuildResult& result,
                       std::chrono::steady_clock::duration time) {
  return fmt::format("{} in {:.1f} s, {} of {} steps cached", result.image_id,
                     std::chrono::duration<double>(time).count(), result.cached_steps,
                     result.steps);
}

/// The settings of this machine's pip, as files of the context.
std::vector<engine::ContextFile> pip_files(Services& services,
                                           const project::Project& project,
                                           const engine::EngineInfo& engine) {
  const auto settings = project::find_pip_settings(services.environment, project.index_hosts,
                                                   project.environment_variables);
  if ((settings.has_credentials || project.has_index_credentials) && !engine.buildkit) {
    throw Error(ErrorKind::environment,
                fmt::format("the package index wants a login, which this {} would keep in the "
                            "image: it has no BuildKit",
                            engine.podman ? "Podman" : "Docker Engine"))
        .hint("use a Docker Engine 18.09 or newer, or an index without a login");
  }
  if (!settings.description.empty()) {
    services.reporter->detail(settings.description);
  }
  std::vector<engine::ContextFile> files;
  for (const auto& [name, text] : settings.files) {
    files.push_back({.path = fmt::format("{}/{}", pip_directory, name), .text = text});
  }
  return files;
}

std::map<std::string, std::string> dependency_labels(const plan::Plan& plan) {
  return {{"autopack.dependency-key", plan.dependency_key}};
}

/// True when the project's package is installed once in a dependency image that stays until what
/// the installation reads changes. Templates of the user's own say themselves how it is installed.
bool installs_once(const PackageRequest& request, const plan::Plan& plan) {
  return plan.dependencies.install && request.options.templates.empty();
}

/// What a build is to make: all of a plan, one stage of it, or what is left above `parent`.
struct Goal {
  std::string tag{};
  std::string target{};
  std::string parent{};                 ///< name of the dependency image, which only lacks the code
  std::vector<std::string> left_out{};  ///< files of the code that it holds
};

/// The stage that holds what the installation of the project's package wrote.
constexpr auto* installed_stage = "installed";

void add_observer(std::vector<engine::ContextFile>& files, const plan::Plan& plan) {
  const auto add = [&](const char* name, const std::string& text) {
    files.push_back({.path = fmt::format("{}/{}", observer_directory, name), .text = Secret{text}});
  };
  add("observe.py", plan::observer_text());
  add("tree", plan::code_digest(plan));
}

void check_own_dockerfile(Services& services,
                          const PackageRequest& request,
                          const Scanned& scanned,
                          const engine::BuildRequest& build) {
  const auto problems = own_dockerfile_findings(
      *build.plan, scanned.project.ignore, engine::dockerfile_path(build),
      is_from_git(request) ? std::filesystem::path{} : request.project.directory);
  for (const auto& problem : problems) {
    if (problem.severity == Problem::Severity::warning) {
      services.reporter->warn(problem);
    }
  }
  throw_if_errors(problems, ErrorKind::project);
}

engine::BuildResult run_build(Services& services,
                              const PackageRequest& request,
                              const Scanned& scanned,
                              const plan::Plan& plan,
                              const Goal& goal) {
  auto& docker = services.docker();
  engine::BuildRequest build{
      .plan = &plan,
      .dockerfile = plan.dockerfile,
      .tags = {goal.tag},
      .labels = goal.target.empty() ? labels_of(plan) : dependency_labels(plan),
      .target = goal.target,
      .network_mode = request.build_network,
      .platform = plan.platform,
      .no_cache = request.no_cache,
      .buildkit = docker.info().buildkit,
      .left_out = goal.left_out,
      .file_time = image::file_time(services.environment)};
  if (!plan.user_dockerfile.empty()) {
    check_own_dockerfile(services, request, scanned, build);
    return docker.build(build);
  }
  plan::Dialect dialect{
      .buildkit = build.buildkit, .root = project_directory, .parent = goal.parent};
  if (plan.dependencies.needs_pip() && goal.parent.empty()) {
    build.files = pip_files(services, scanned.project, docker.info());
    dialect.pip_settings = build.files.empty() ? "" : pip_directory;
  }
  if (goal.target == installed_stage) {
    dialect.observer = observer_directory;
    add_observer(build.files, plan);
  }
  build.root = dialect.root;
  load_base(services, plan);
  const engine::BuildBase base{docker, plan.base};
  dialect.base = base.from();
  build.dockerfile = plan::render_dockerfile(plan, dialect, request.options);
  return docker.build(build);
}

/// Builds what is left of the image of `plan` above its dependency image.
engine::BuildResult build_on_dependencies(Services& services,
                                          const PackageRequest& request,
                                          const Scanned& scanned,
                                          const plan::Plan& plan,
                                          const AgeLimit& limit,
                                          const ImageName& name) {
  auto dependencies = dependencies_in_engine(services, request, scanned, plan, limit, name);
  const image::BaseFacts facts{
      .reference = name.reference.with_tag(dependency_tag(plan.dependency_key)),
      .image_id = dependencies.id};
  const engine::BuildBase parent{services.docker(), facts};
  return run_build(services, request, scanned, plan,
                   {.tag = name.keyed(plan).tagged(),
                    .parent = parent.from(),
                    .left_out = std::move(dependencies.made)});
}

/// Loads the code on its dependencies where that will do, else builds all; fills in `image`.
void make(Services& services,
          const PackageRequest& request,
          const Scanned& scanned,
          const plan::Plan& plan,
          const AgeLimit& limit,
          const ImageName& name,
          Image& image) {
  const auto start = std::chrono::steady_clock::now();
  if (!obstacle_to_direct(request, plan, false)) {
    if (auto loaded = load_code(services, request, scanned, plan, limit, name)) {
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      services.reporter->done("Loaded",
                              fmt::format("{} in {:.2f} s", loaded->image_id, time.count()));
      image.image_id = std::move(loaded->image_id);
      image.layers = std::move(loaded->layers);
      image.engine = "direct";
      return;
    }
  }
  const auto result =
      installs_once(request, plan)
          ? build_on_dependencies(services, request, scanned, plan, limit, name)
          : run_build(services, request, scanned, plan, {.tag = name.keyed(plan).tagged()});
  image.image_id = result.image_id;
  services.reporter->done("Built", built_text(result, std::chrono::steady_clock::now() - start));
}

}  // namespace

std::map<std::string, std::string> labels_of(const plan::Plan& plan) {
  std::map<std::string, std::string> labels{{key_label, plan.image_key},
                                            {"autopack.dependency-key", plan.dependency_key}};
  // A path of this machine says nothing elsewhere.
  if (!plan.base.reference.empty() && !image::names_files(plan.base.reference)) {
    labels["org.opencontainers.image.base.name"] = plan.base.reference;
  }
  if (plan.base.digest) {
    labels["org.opencontainers.image.base.digest"] = plan.base.digest->str();
  }
  labels.insert(plan.labels.begin(), plan.labels.end());
  return labels;
}

bool key_is_whole(const plan::Plan& plan) {
  return plan.user_dockerfile.empty();
}

std::string build_dependencies(Services& services,
                               const PackageRequest& request,
                               const Scanned& scanned,
                               const plan::Plan& plan,
                               const std::string& tagged) {
  const auto start = std::chrono::steady_clock::now();
  const auto& dependencies = plan.dependencies;
  const auto result = run_build(services, request, scanned, plan,
                                {.tag = tagged,
                                 .target = dependencies.install              ? installed_stage
                                           : dependencies.has_requirements() ? "dependencies"
                                                                             : "base"});
  services.reporter->done(
      "Built", "dependencies " + built_text(result, std::chrono::steady_clock::now() - start));
  return result.image_id;
}

Image build(Services& services,
            const PackageRequest& request,
            const Scanned& scanned,
            const plan::Plan& plan,
            const Reasons& reasons,
            const ImageName& name) {
  auto& docker = services.docker();
  const image::Reference keyed = name.keyed(plan);
  Image image{.repository = keyed.repository(),
              .tag = keyed.tag,
              .outcome = expected_image(request, reasons),
              .dependencies = expected_dependencies(request, reasons, plan)};
  // What a user's own Dockerfile starts from is not in the key, so only the builder's cache can
  // tell whether it is still the same.
  const AgeLimit limit{request, scanned, plan};
  const auto is_old = [&](const std::string& id) {
    return limit.applies() && limit.is_past(docker.run_times(id), false, std::time(nullptr));
  };
  if (!request.no_cache && plan.user_dockerfile.empty()) {
    const auto local = built_before(docker, plan, keyed.tagged());
    if (local && is_old(local->id)) {
      image.outcome = {.reason = limit.reason()};
      image.dependencies = image.outcome;
    } else if (local) {
      image.image_id = local->id;
      image.outcome = reused(reasons);
      image.dependencies = reused_dependencies(reasons, plan);
      services.reporter->done("Reused", fmt::format("{}: {}", local->id, image.outcome.reason));
    }
  }
  if (image.image_id.empty()) {
    if (auto why = last_installation(services, plan).outdated; why && image.dependencies) {
      image.dependencies = Outcome{.reason = std::move(*why)};
    }
    tell_planned(services, image);
    make(services, request, scanned, plan, limit, name, image);
    if (!request.no_cache && is_old(image.image_id)) {
      // The builder's own cache has no age limit.
      auto anew = request;
      anew.no_cache = true;
      make(services, anew, scanned, plan, limit, name, image);
    }
  }
  if (!name.reference.tag.empty()) {
    docker.tag(image.image_id, name.reference);
  }
  return image;
}

}  // namespace autopack::pipeline
