#include "build/docker/docker_build.hpp"

#include "base/elapsed.hpp"
#include "base/text.hpp"
#include "build/docker/build_context.hpp"
#include "build/docker/own_dockerfile.hpp"
#include "build/wheels/locked_requirements.hpp"
#include "executor/probe.hpp"
#include "image/tar.hpp"
#include "plan/install_record.hpp"
#include "project/requirements/pip_settings.hpp"
#include "publish/engine.hpp"

#include <fmt/format.h>

namespace autopack::build {

namespace {

using packaging::Freshness;
using packaging::Packaging;

/// Names in the sent context that must not collide with the user's files.
constexpr auto* project_directory = "project";
constexpr auto* observer_directory = ".autopack/observe";

void add_observer(std::vector<ContextFile>& files, const plan::Plan& plan) {
  const auto add = [&](const char* name, const std::string& text) {
    files.push_back({.path = fmt::format("{}/{}", observer_directory, name), .text = Secret{text}});
  };
  add("observe.py", plan::observer_text());
  add("tree", plan::code_digest(plan));
}

void check_own_dockerfile(Services& services, const Packaging& work, const std::string& place) {
  const auto& request = work.request();
  const auto problems = own_dockerfile_findings(
      work.plan(), work.scanned().project.ignore, place,
      request.is_from_git() ? std::filesystem::path{} : request.project.directory);
  for (const auto& problem : problems) {
    if (problem.severity == Problem::Severity::warning) {
      services.reporter->warn(problem);
    }
  }
  throw_if_errors(problems, ErrorKind::project);
}

/// Returns `plan` without the requirements.
plan::ReadablePlan own_package_alone(plan::ReadablePlan plan) {
  auto& dependencies = plan.dependencies;
  dependencies.lock.reset();
  dependencies.requirement_files.clear();
  dependencies.requirement_edits.clear();
  dependencies.requirements.clear();
  dependencies.packages.clear();
  dependencies.requirement_copies.clear();
  dependencies.package_requirements.clear();
  dependencies.build_requirements.clear();
  dependencies.hashed = false;
  dependencies.resolves = false;
  return plan;
}

/// Returns the labels of `goal`. An image that lacks requirements must not pass for a dependency
/// image.
std::map<std::string, std::string> labels_of(const Packaging& work, const BuildGoal& goal) {
  if (!goal.stage) {
    return work.labels();
  }
  if (goal.is_own_alone) {
    return {};
  }
  return {{packaging::dependency_key_label, work.plan().keys.value().dependencies}};
}

}  // namespace

std::vector<ContextFile> pip_files(Services& services,
                                   const project::Project& project,
                                   const std::vector<std::string>& hosts,
                                   const engine::EngineInfo& engine) {
  auto settings =
      project::find_pip_settings(services.environment, hosts, project.environment_variables);
  project::add_constraints(settings, project.constraints);
  if ((settings.has_credentials || project.has_index_credentials) && !engine.buildkit) {
    throw Error(ErrorKind::environment,
                fmt::format("the package index wants a login, which this {} would keep in the "
                            "image: it has no BuildKit",
                            engine.podman ? "Podman" : "Docker Engine"))
        .hint("use a Docker Engine 18.09 or newer, or an index without a login");
  }
  if (settings.description) {
    services.reporter->detail(*settings.description);
  }
  std::vector<ContextFile> files;
  for (const auto& [name, text] : settings.files) {
    files.push_back({.path = fmt::format("{}/{}", pip_directory, name), .text = text});
  }
  return files;
}

engine::BuildResult build(Services& services, const Packaging& work, const BuildGoal& goal) {
  auto& docker = services.docker();
  const auto alone =
      goal.is_own_alone ? std::optional{own_package_alone(work.plan())} : std::nullopt;
  const auto& plan = alone ? *alone : work.plan();
  ContextParts parts{.plan = &plan,
                     .dockerfile = plan.dockerfile,
                     .left_out = goal.left_out,
                     .file_time = image::file_time(services.environment)};
  engine::BuildRequest build{
      .tags = goal.tag.empty() ? std::vector<std::string>{} : std::vector{goal.tag},
      .labels = labels_of(work, goal),
      .target = goal.stage,
      .network_mode = work.request().build_network,
      .platform = plan.platform,
      .no_cache = work.request().no_cache || goal.freshness == Freshness::anew,
      .buildkit = docker.info().buildkit};
  const auto make = [&] {
    const PlannedContext context{std::move(parts)};
    if (plan.user_dockerfile) {
      check_own_dockerfile(services, work, context.dockerfile_path());
    }
    build.context = &context;
    return docker.build(build);
  };
  if (plan.user_dockerfile) {
    return make();
  }
  plan::Dialect dialect{
      .buildkit = build.buildkit, .root = project_directory, .parent = goal.parent};
  if (plan.dependencies.needs_pip() && !goal.parent) {
    const auto& project = work.scanned().project;
    const auto locked =
        plan.dependencies.lock ? locked_requirements(services, work) : LockedRequirements{};
    auto hosts = project.index_hosts;
    hosts.insert(hosts.end(), locked.hosts.begin(), locked.hosts.end());
    parts.files = pip_files(services, project, hosts, docker.info());
    if (!parts.files.empty()) {
      dialect.pip_settings = pip_directory;
    }
    if (plan.dependencies.lock) {
      parts.files.push_back({.path = std::string{plan::locked_file}, .text = Secret{locked.text}});
    }
  }
  if (goal.stage == installed_stage || goal.is_own_alone) {
    dialect.observer = observer_directory;
    add_observer(parts.files, plan);
  }
  parts.root = dialect.root;
  publish::load_executor_image(services, plan);
  const executor::BuildBase base{docker, plan.base};
  dialect.base = base.from();
  parts.dockerfile = plan::render_dockerfile(plan, dialect, work.request().options);
  return make();
}

std::string built_text(const engine::BuildResult& result,
                       std::chrono::steady_clock::duration time) {
  return fmt::format("{} in {}, {} of {} steps cached", result.image_id, elapsed_text(time),
                     result.cached_steps, result.steps);
}

}  // namespace autopack::build
