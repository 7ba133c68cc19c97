#include "base/text.hpp"
#include "engine/build_context.hpp"
#include "image/file_reference.hpp"
#include "image/tar.hpp"
#include "pipeline/age.hpp"
#include "pipeline/direct.hpp"
#include "pipeline/files.hpp"
#include "pipeline/loading.hpp"
#include "pipeline/own_dockerfile.hpp"
#include "pipeline/reasons.hpp"
#include "pipeline/scan.hpp"
#include "project/pip_settings.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace autopack::pipeline {

namespace {

/// In the context that is sent: what the user's files must not meet.
constexpr auto* project_directory = "project";
constexpr auto* pip_directory = ".autopack/pip";

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
                              const std::string& tag,
                              const std::string& target) {
  auto& docker = services.docker();
  engine::BuildRequest build{.plan = &plan,
                             .dockerfile = plan.dockerfile,
                             .tags = {tag},
                             .labels = target.empty() ? labels_of(plan) : dependency_labels(plan),
                             .target = target,
                             .network_mode = request.build_network,
                             .platform = plan.platform,
                             .no_cache = request.no_cache,
                             .buildkit = docker.info().buildkit,
                             .file_time = image::file_time(services.environment)};
  if (!plan.user_dockerfile.empty()) {
    check_own_dockerfile(services, request, scanned, build);
    return docker.build(build);
  }
  if (plan.dependencies.needs_pip()) {
    build.files = pip_files(services, scanned.project, docker.info());
  }
  build.root = project_directory;
  load_base(services, plan);
  const engine::BuildBase base{docker, plan.base};
  build.dockerfile =
      plan::render_dockerfile(plan,
                              {.buildkit = build.buildkit,
                               .base = base.from(),
                               .pip_settings = build.files.empty() ? "" : pip_directory,
                               .root = build.root},
                              request.options);
  return docker.build(build);
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
  const auto result = run_build(services, request, scanned, plan, name.keyed(plan).tagged(), "");
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

void build_dependencies(Services& services,
                        const PackageRequest& request,
                        const Scanned& scanned,
                        const plan::Plan& plan,
                        const std::string& tagged) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = run_build(services, request, scanned, plan, tagged,
                                plan.dependencies.needs_pip() ? "dependencies" : "base");
  services.reporter->done(
      "Built", "dependencies " + built_text(result, std::chrono::steady_clock::now() - start));
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
