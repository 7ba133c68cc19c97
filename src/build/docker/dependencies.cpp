#include "build/docker/dependencies.hpp"

#include "base/elapsed.hpp"
#include "base/text.hpp"
#include "build/direct/installation.hpp"
#include "build/docker/docker_build.hpp"
#include "build/docker/wheel_policy.hpp"
#include "build/wheels/wheel_image.hpp"
#include "executor/probe.hpp"
#include "publish/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>

namespace autopack::build {

namespace {

using packaging::Freshness;
using packaging::Packaging;

bool is_usable(engine::Docker& docker, const engine::LocalImage& local, const Packaging& work) {
  const auto key = local.labels.find(packaging::dependency_key_label);
  const auto limit = work.age_limit();
  return key != local.labels.end() && key->second == work.plan().keys.value().dependencies &&
         !(limit.applies() && limit.is_past(docker.run_times(local.id), true, std::time(nullptr)));
}

/// Returns the dependency image of `work` in the engine. An image with the project's own package
/// that was made for another repository, or for none, gets the name of this one. BuildKit's cache
/// contains the requirements, but no installation once the code has changed.
std::optional<engine::LocalImage> dependency_image_of(engine::Docker& docker,
                                                      const Packaging& work) {
  const auto own = image::Reference::parse(work.dependency_name());
  if (auto local = docker.inspect(own.tagged())) {
    return local;
  }
  if (!work.plan().dependencies.install) {
    return std::nullopt;
  }
  const auto& key = work.plan().keys.value().dependencies;
  for (const auto& other : docker.list_images(packaging::dependency_key_label)) {
    const auto label = other.labels.find(packaging::dependency_key_label);
    const bool has_code = other.labels.contains(packaging::key_label);
    if (label != other.labels.end() && label->second == key && !has_code) {
      docker.tag(other.id, own);
      return docker.inspect(own.tagged());
    }
  }
  return std::nullopt;
}

/// Returns images that may contain the lowest layers of a dependency image.
std::vector<std::string> images_before(const Packaging& work) {
  std::vector<std::string> names{work.name().reference.with_tag(packaging::last_run_tag)};
  if (const auto before = work.key_before()) {
    names.push_back(work.name().reference.with_tag(packaging::key_tag(*before)));
  }
  return names;
}

/// Assembles the dependency image from wheels and loads it into the engine; returns its id, or
/// nothing if only the engine can build it.
std::optional<std::string> load_wheels(Services& services,
                                       const Packaging& work,
                                       Freshness freshness) {
  auto obstacles = obstacles_to_wheels(work);
  if (obstacles.empty()) {
    auto& docker = services.docker();
    publish::load_executor_image(services, work.plan());
    const executor::BuildBase base{docker, work.plan().base};
    if (auto held = docker.held(base.from())) {
      const auto start = std::chrono::steady_clock::now();
      const auto below = held->manifest.layers.size();
      auto made = make_wheel_image(services, work, std::move(*held),
                                   wheel_policy(services, work, freshness));
      if (made.image) {
        const auto source = packaging::source_of(*made.image);
        publish::load(docker, source, {work.dependency_name()},
                      std::max(below, publish::layers_there(docker, source, images_before(work))));
        const auto time = std::chrono::steady_clock::now() - start;
        services.reporter->done(
            "Loaded", fmt::format("dependencies {} in {}", source.manifest.config.digest.str(),
                                  elapsed_text(time)));
        return source.manifest.config.digest.str();
      }
      obstacles = std::move(made.obstacles);
    } else {
      obstacles.emplace_back("the engine cannot load a part of an image");
    }
  }
  report_installation_by_pip(services, work, obstacles);
  return std::nullopt;
}

}  // namespace

const char* dependency_stage(const plan::Dependencies& dependencies) {
  if (dependencies.install) {
    return installed_stage;
  }
  return dependencies.has_requirements() ? "dependencies" : "base";
}

void report_installation_by_pip(Services& services,
                                const Packaging& work,
                                const std::vector<std::string>& obstacles) {
  services.reporter->detail(
      fmt::format("{} installs the dependencies: {}",
                  work.request().uses_cloud_build ? "Cloud Build" : "the docker engine",
                  join(obstacles, "; ")));
  for (const auto& problem : work.scanned().project.unread_by_pip) {
    services.reporter->warn(problem);
  }
}

std::string build_dependencies(Services& services, const Packaging& work, Freshness freshness) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = build(services, work,
                            {.tag = work.dependency_name(),
                             .stage = dependency_stage(work.plan().dependencies),
                             .freshness = freshness});
  services.reporter->done(
      "Built", "dependencies " + built_text(result, std::chrono::steady_clock::now() - start));
  return result.image_id;
}

bool has_dependencies(Services& services, const Packaging& work) {
  const auto local = dependency_image_of(services.docker(), work);
  return local && is_usable(services.docker(), *local, work) &&
         !installation_in_engine(services, work.plan(), local->id).outdated;
}

DependencyImage dependencies_in_engine(Services& services,
                                       const Packaging& work,
                                       Freshness freshness) {
  auto& docker = services.docker();
  const bool anew = work.request().no_cache || freshness == Freshness::anew;
  const auto local =
      anew ? docker.inspect(work.dependency_name()) : dependency_image_of(docker, work);
  const bool usable = local && !anew && is_usable(docker, *local, work);
  if (usable) {
    auto installation = installation_in_engine(services, work.plan(), local->id);
    if (!installation.outdated) {
      return {.id = local->id, .made = std::move(installation.made)};
    }
  }
  if (auto loaded = load_wheels(services, work, anew ? Freshness::anew : Freshness::cached)) {
    return {.id = std::move(*loaded), .made = last_made(services, work.plan())};
  }
  const std::string id =
      build_dependencies(services, work, local && !usable ? Freshness::anew : freshness);
  return {.id = id, .made = installation_in_engine(services, work.plan(), id).made};
}

}  // namespace autopack::build
