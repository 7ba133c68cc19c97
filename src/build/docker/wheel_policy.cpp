#include "build/docker/wheel_policy.hpp"

#include "build/docker/own_installation.hpp"
#include "build/docker/wheel_build.hpp"

namespace autopack::build {

WheelPolicy wheel_policy(Services& services,
                         const packaging::Packaging& work,
                         packaging::Freshness freshness) {
  WheelPolicy policy{.freshness = freshness};
  if (work.request().engine != packaging::Engine::direct) {
    policy.build = build_wheels_with(services, work);
    policy.install_own = install_own_with(services, work);
  }
  return policy;
}

}  // namespace autopack::build
