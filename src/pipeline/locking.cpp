#include "pipeline/locking.hpp"

#include "build/docker/wheel_build.hpp"
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
  auto with_build = choice;
  if (wanted->request.engine != packaging::Engine::direct) {
    with_build.build = build::build_wheels_with(services, work);
  }
  return build::resolve_requirements(services, work, facts, with_build);
}

}  // namespace autopack::pipeline
