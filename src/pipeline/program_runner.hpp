#pragma once

#include "engine/docker.hpp"
#include "image/reference.hpp"
#include "packaging/request.hpp"
#include "pipeline/planning.hpp"
#include "services/services.hpp"

#include <memory>
#include <string>

namespace autopack::pipeline {

/// Makes images of programs that run on this machine, and runs them.
class ProgramRunner {
public:
  virtual ~ProgramRunner() = default;
  /// Returns the image of `wanted` for ContainerSpec::image.
  virtual std::string package(const WantedPtr& wanted) = 0;
  /// The same for an existing image, which runs unchanged.
  virtual std::string fetch(const image::Reference& reference, const std::string& platform) = 0;
  /// As engine::Docker::run, for an image that this object returned.
  virtual int run(const engine::ContainerSpec& spec, const engine::ContainerStreams& streams) = 0;
};

/// Returns a runner that uses the docker engine. If none answers, or with Engine::direct, returns
/// one that uses none, and reports it. Throws Error(environment) if neither is possible.
std::unique_ptr<ProgramRunner> choose_runner(Services& services, packaging::Engine engine);

}  // namespace autopack::pipeline
