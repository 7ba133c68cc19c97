#include "engine/docker/dependencies.hpp"

#include "engine/direct/installation.hpp"
#include "engine/docker/docker_build.hpp"

#include <chrono>
#include <ctime>

namespace autopack::engine {

namespace {

using packaging::Freshness;
using packaging::Packaging;

bool is_usable(Docker& docker, const LocalImage& local, const Packaging& work) {
  const auto key = local.labels.find(packaging::dependency_key_label);
  const auto limit = work.age_limit();
  return key != local.labels.end() && key->second == work.plan().dependency_key &&
         !(limit.applies() && limit.is_past(docker.run_times(local.id), true, std::time(nullptr)));
}

const char* stage_of(const plan::Dependencies& dependencies) {
  if (dependencies.install) {
    return installed_stage;
  }
  return dependencies.has_requirements() ? "dependencies" : "base";
}

}  // namespace

std::string build_dependencies(Services& services, const Packaging& work, Freshness freshness) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = build(services, work,
                            {.tag = work.dependency_name(),
                             .stage = stage_of(work.plan().dependencies),
                             .freshness = freshness});
  services.reporter->done(
      "Built", "dependencies " + built_text(result, std::chrono::steady_clock::now() - start));
  return result.image_id;
}

DependencyImage dependencies_in_engine(Services& services,
                                       const Packaging& work,
                                       Freshness freshness) {
  auto& docker = services.docker();
  const bool anew = work.request().no_cache || freshness == Freshness::anew;
  const auto local = docker.inspect(work.dependency_name());
  const bool usable = local && !anew && is_usable(docker, *local, work);
  if (usable) {
    auto installation = installation_in_engine(services, work.plan(), local->id);
    if (!installation.outdated) {
      return {.id = local->id, .made = std::move(installation.made)};
    }
  }
  const std::string id =
      build_dependencies(services, work, local && !usable ? Freshness::anew : freshness);
  return {.id = id, .made = installation_in_engine(services, work.plan(), id).made};
}

}  // namespace autopack::engine
