#include "pipeline/choose_workers.hpp"

#include "engine/direct/direct_builder.hpp"
#include "engine/docker/dependencies.hpp"
#include "engine/docker/docker_builder.hpp"
#include "executor/executor_image.hpp"
#include "pipeline/look_ahead.hpp"
#include "publish/engine.hpp"
#include "publish/publishers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::pipeline {

namespace {

using packaging::Engine;
using packaging::Output;
using packaging::Packaging;

constexpr auto* direct_cannot = "`--engine=direct` cannot make this image";
constexpr auto* stays_there = "the image would stay in the docker engine, which is not used then";

/// True when the image is left in the docker engine and nowhere else.
bool stays_in_engine(const packaging::Wanted& wanted) {
  return !wanted.is_pushed() && wanted.request.outputs.empty();
}

/// Why autopack cannot put the layers of the code on the image below them itself, so that the whole
/// image has to be built; none when it can.
std::optional<std::string> obstacle_to_assembly(const Packaging& work, bool in_engine) {
  if (auto obstacle = engine::obstacle_to_direct(work)) {
    return obstacle;
  }
  if (!in_engine && !work.needs_dependencies() && !work.plan().base.digest) {
    return fmt::format("only the docker engine has the executor image `{}`",
                       work.plan().base.reference);
  }
  return std::nullopt;
}

/// Makes a dependency image that the registry lacks with the docker engine, and pushes it.
engine::MakeDependencies make_dependencies_by(Services& services) {
  return [&services](const Packaging& work, packaging::Freshness freshness,
                     const packaging::Outcome& why) {
    const std::string name = work.dependency_name();
    if (work.request().engine == Engine::direct) {
      throw Error(ErrorKind::environment,
                  fmt::format("there is no dependency image `{}` to put the code on", name))
          .cause("it must be " + to_text(why))
          .hint("`--engine=auto` builds it once with the docker engine");
    }
    engine::build_dependencies(services, work, freshness);
    return publish::push_with_engine(services, work.name(), image::Reference::parse(name)).digest;
  };
}

std::unique_ptr<packaging::Builder> builder_in_engine(Services& services, const Packaging& work) {
  if (obstacle_to_assembly(work, work.request().outputs.empty())) {
    return engine::make_docker_builder(services);
  }
  return engine::make_loading_builder(services);
}

/// What is below the code, where it can be had without the docker engine; else `obstacle` says why
/// not.
std::optional<packaging::ParentImage> find_parent(Services& services,
                                                  const Packaging& work,
                                                  std::string& obstacle) {
  if (auto found = obstacle_to_assembly(work, false)) {
    obstacle = std::move(*found);
    return std::nullopt;
  }
  if (!work.needs_dependencies()) {
    return executor::open_image(services, work.plan().base, work.plan().platform);
  }
  auto parent = engine::find_dependencies(services, work);
  if (!parent) {
    obstacle =
        "its dependencies have to be installed, and no registry was named that has the "
        "dependency image";
  }
  return parent;
}

/// Says why an engine is needed where there is none.
class NeededBuilder : public packaging::Builder {
public:
  NeededBuilder(std::unique_ptr<packaging::Builder> builder, std::string why)
      : builder_{std::move(builder)}, why_{std::move(why)} {}

  packaging::MadeImage make(const Packaging& work) override {
    try {
      return builder_->make(work);
    } catch (Error& error) {
      if (error.kind() == ErrorKind::environment) {
        error.wrap("only an engine can build this image: " + why_);
      }
      throw;
    }
  }

private:
  std::unique_ptr<packaging::Builder> builder_;
  std::string why_;
};

std::unique_ptr<packaging::Builder> builder_for_outputs(Services& services, const Packaging& work) {
  const auto& request = work.request();
  const auto is_docker = [](const Output& output) { return output.kind == Output::Kind::docker; };
  if (std::any_of(request.outputs.begin(), request.outputs.end(), is_docker)) {
    // An engine that is not there is told before anything is written.
    services.docker().info();
  }
  std::string obstacle;
  if (auto parent = find_parent(services, work, obstacle)) {
    return engine::make_builder_on(services, std::move(*parent));
  }
  if (request.engine == Engine::direct) {
    throw Error(ErrorKind::usage, direct_cannot)
        .cause(obstacle)
        .hint("`--engine=auto` takes the docker engine where it is needed");
  }
  return std::make_unique<NeededBuilder>(builder_in_engine(services, work), std::move(obstacle));
}

}  // namespace

std::optional<std::string> obstacle_to_direct(const Packaging& work) {
  const auto& wanted = work.wanted();
  if (wanted.request.engine == Engine::direct && stays_in_engine(wanted)) {
    return stays_there;
  }
  return obstacle_to_assembly(work, stays_in_engine(wanted));
}

Workers choose_workers(Services& services, const Packaging& work, LookAhead& ahead) {
  const auto& wanted = work.wanted();
  Workers chosen;
  if (wanted.is_pushed() && !obstacle_to_direct(work)) {
    const auto target = ahead.target(work);
    chosen.builder = engine::make_direct_builder(services, target, ahead.layers(work),
                                                 make_dependencies_by(services));
    chosen.publishers.push_back(publish::to_registry(services, target));
  } else if (wanted.is_pushed()) {
    if (wanted.request.engine == Engine::direct) {
      throw Error(ErrorKind::usage, direct_cannot)
          .cause(obstacle_to_direct(work).value())
          .hint("`--engine=auto` takes the docker engine where it is needed");
    }
    chosen.builder = builder_in_engine(services, work);
    chosen.publishers.push_back(publish::to_engine_name(services));
    chosen.publishers.push_back(publish::to_registry_by_engine(services));
  } else {
    chosen.builder = wanted.request.outputs.empty() ? builder_in_engine(services, work)
                                                    : builder_for_outputs(services, work);
    chosen.publishers.push_back(publish::to_engine_name(services));
  }
  for (const auto& output : wanted.request.outputs) {
    chosen.publishers.push_back(publish::to_output(services, output));
  }
  return chosen;
}

void refuse_direct_in_engine(const packaging::Wanted& wanted) {
  if (wanted.request.engine == Engine::direct && stays_in_engine(wanted)) {
    throw Error(ErrorKind::usage, direct_cannot)
        .cause(stays_there)
        .hint("`--engine=auto` loads the code on what the engine has, without a build")
        .hint("`autopack build --output=oci:DIR` needs no engine");
  }
}

}  // namespace autopack::pipeline
