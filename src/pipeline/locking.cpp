#include "pipeline/locking.hpp"

#include "build/docker/wheel_build.hpp"
#include "build/wheels/own_package.hpp"
#include "build/wheels/package_index.hpp"
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
  if (facts.interpreter) {
    build::WheelPolicy policy{};
    if (wanted->request.engine != packaging::Engine::direct) {
      policy.install_own = build::install_own_with(services, work);
    }
    build::PackageIndex index{services, work, facts.default_index};
    with_build.own =
        build::find_own_package(services, work, *facts.interpreter, index.wheels(), policy);
  }
  return build::resolve_requirements(services, work, facts, with_build);
}

}  // namespace autopack::pipeline
