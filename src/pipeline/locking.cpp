#include "pipeline/locking.hpp"

#include "build/docker/wheel_policy.hpp"
#include "build/wheels/own_package.hpp"
#include "executor/executor_image.hpp"
#include "executor/python_facts.hpp"

namespace autopack::pipeline {

build::Locked lock_requirements(Services& services,
                                const WantedPtr& wanted,
                                const build::LockChoice& choice) {
  executor::ExecutorImage executor{services, wanted->request};
  const auto work = plan_packaging(services, wanted, executor.confirmed());
  const auto facts =
      executor::python_facts(services, work.plan().base, executor::image_places(work.request()));
  const auto policy = build::wheel_policy(services, work, packaging::Freshness::cached);
  auto with_builds = choice;
  with_builds.build = policy.build;
  if (facts.interpreter && work.plan().dependencies.resolves) {
    with_builds.own = build::find_own_package(services, work, facts, policy);
  }
  return build::resolve_requirements(services, work, facts, with_builds);
}

}  // namespace autopack::pipeline
