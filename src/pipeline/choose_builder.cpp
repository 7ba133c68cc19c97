#include "pipeline/choose_builder.hpp"

#include "base/text.hpp"
#include "build/cloud/cloud_builder.hpp"
#include "build/direct/direct_builder.hpp"
#include "build/docker/dependencies.hpp"
#include "build/docker/docker_builder.hpp"
#include "build/docker/wheel_policy.hpp"
#include "build/wheels/wheel_image.hpp"
#include "executor/executor_image.hpp"
#include "executor/remembered/written_facts.hpp"
#include "pipeline/look_ahead.hpp"
#include "publish/engine.hpp"
#include "publish/publishers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace autopack::pipeline {

namespace {

using packaging::Engine;
using packaging::Output;
using packaging::Packaging;

constexpr auto* direct_cannot = "`--engine=direct` cannot make this image";
constexpr auto* stays_there =
    "the image would have to stay in the docker engine, but `--engine=direct` uses none";

constexpr std::string_view needs_engine{
    "its dependencies have to be installed by an engine, and no registry was named that has "
    "them: "};

/// Returns true if the image is left only in the docker engine.
bool stays_in_engine(const packaging::Wanted& wanted) {
  return !wanted.is_pushed() && wanted.request.outputs.empty();
}

/// Returns why nothing can be put on the executor image of `work` without an engine: only the
/// engine has it.
std::optional<std::string> obstacle_of_base(const Packaging& work) {
  const auto& base = work.plan().base;
  return base.digest ? std::nullopt
                     : std::optional{fmt::format(
                           "only the docker engine has the executor image `{}`", base.reference)};
}

/// Returns why autopack cannot put the layers of the code on the image below them itself, so that
/// the whole image has to be built; nothing if it can.
std::optional<std::string> obstacle_to_assembly(const Packaging& work, bool in_engine) {
  if (auto obstacle = build::obstacle_to_direct(work)) {
    return obstacle;
  }
  return in_engine || work.needs_dependencies() ? std::nullopt : obstacle_of_base(work);
}

/// The dependency image of wheels, and the place of the executor image below it.
struct DependenciesOfWheels {
  build::WheelImage made{};
  std::optional<image::Reference> base{};
};

/// Puts the dependencies of `work` on its executor image from a registry or a file.
DependenciesOfWheels make_of_wheels(Services& services,
                                    const Packaging& work,
                                    packaging::Freshness freshness) {
  auto obstacles = build::obstacles_to_wheels(work);
  if (auto obstacle = obstacle_of_base(work)) {
    obstacles.push_back(std::move(*obstacle));
  }
  if (!obstacles.empty()) {
    return {.made = {.obstacles = std::move(obstacles)}};
  }
  auto base = executor::open_image(services, work.plan().base, work.plan().platform);
  try {
    return {.made = build::make_wheel_image(services, work, std::move(base.image),
                                            build::wheel_policy(services, work, freshness)),
            .base = base.reference};
  } catch (const Error& error) {
    // Something that needs an engine: Cloud Build does it with pip.
    if (!work.request().uses_cloud_build || error.kind() != ErrorKind::environment) {
      throw;
    }
    return {.made = {.obstacles = {error.message()}}};
  }
}

/// Writes remembered facts to `target`, so that other machines know the executor image and these
/// wheels.
void keep_facts(Services& services,
                const publish::Target& target,
                const Packaging& work,
                const build::WheelSet& wheels) {
  const auto& base = work.plan().base;
  if (!base.digest) {
    return;
  }
  const auto& platform = work.plan().platform;
  if (services.repository_facts) {
    services.repository_facts->keep(target.shared_repository(), *base.digest, platform,
                                    wheels.new_facts(services, base));
    return;
  }
  const auto wrong =
      write_facts(*services.reporter,
                  {*target.shared_repository(), services.blob_cache, *base.digest, platform},
                  wheels.new_facts(services, base),
                  work.request().no_cache ? OldFacts::replaced : OldFacts::corrected);
  if (wrong > 0) {
    services.reporter->warn(Problem::warning(
        {.message = fmt::format(
             "the facts remembered in `{}` named other contents for {} {} of this "
             "image; they are corrected, and the image was made without them",
             work.name().reference.repository(), wrong, wrong == 1 ? "layer" : "layers"),
         .hints = {"images that were built from them before may contain unchecked code: see who "
                   "can push there"}}));
  }
}

/// Reports which layers were not compared with their wheels.
void report_remembered(Services& services, const Packaging& work, const build::WheelSet& wheels) {
  if (const auto remembered = wheels.remembered(); remembered > 0) {
    services.reporter->done(
        "Trusted",
        fmt::format("the facts remembered in `{}` for the layers of {} {}; `--strict` makes "
                    "the layers from the wheels",
                    work.name().reference.repository(), remembered,
                    remembered == 1 ? "wheel" : "wheels"));
  }
}

/// Makes a dependency image that the registry lacks, from wheels if possible, else with the docker
/// engine, and pushes it.
build::MakeDependencies make_dependencies_by(Services& services,
                                             std::shared_ptr<publish::Target> target) {
  return [&services, target = std::move(target)](
             const Packaging& work, packaging::Freshness freshness,
             const packaging::Outcome& why) -> build::PushedDependencies {
    const std::string name = work.dependency_name();
    auto wheels = make_of_wheels(services, work, freshness);
    const auto& obstacles = wheels.made.obstacles;
    if (wheels.made.image) {
      packaging::MadeImage made{.lazy = std::move(wheels.made.image), .parent = wheels.base};
      const auto digest = publish::push_dependencies(services, target, work, made);
      keep_facts(services, *target, work, wheels.made.wheels);
      if (work.request().lists_packages()) {
        wheels.made.wheels.survey_new_layers(services);
      }
      const auto moved = wheels.made.wheels.moved(services, made.image.layers);
      services.reporter->done("Installed", moved.wheels == 0 && work.plan().dependencies.install
                                               ? "the project's own package"
                                               : packaging::to_text(moved));
      report_remembered(services, work, wheels.made.wheels);
      return {digest, made.image.bytes_uploaded, moved};
    }
    if (work.request().engine == Engine::direct) {
      throw Error(ErrorKind::environment,
                  fmt::format("there is no dependency image `{}` to put the code on", name))
          .cause("it must be " + to_text(why))
          .cause("only an engine can make it: " + join(obstacles, "; "))
          .hint("`--engine=auto` builds with the docker engine what has to be built, once");
    }
    build::report_installation_by_pip(services, work, obstacles);
    if (work.request().uses_cloud_build) {
      return {.digest = build::build_dependencies_in_cloud(services, work, freshness)};
    }
    if (freshness == packaging::Freshness::anew || !build::has_dependencies(services, work)) {
      build::build_dependencies(services, work, freshness);
    }
    const auto pushed =
        publish::push_with_engine(services, work.name(), image::Reference::parse(name));
    return {.digest = pushed.digest, .bytes_uploaded = pushed.bytes_uploaded};
  };
}

std::unique_ptr<packaging::Builder> builder_in_engine(Services& services, const Packaging& work) {
  if (obstacle_to_assembly(work, work.request().outputs.empty())) {
    return build::make_docker_builder(services);
  }
  return build::make_loading_builder(services);
}

struct FoundParent {
  packaging::ParentImage image;
  build::ParentOrigin origin{build::ParentOrigin::found};
};

/// Returns the image below the code, if it is available without the docker engine; else sets
/// `obstacle`.
std::optional<FoundParent> find_parent(Services& services,
                                       const Packaging& work,
                                       std::string& obstacle) {
  if (auto found = obstacle_to_assembly(work, false)) {
    obstacle = std::move(*found);
    return std::nullopt;
  }
  if (!work.needs_dependencies()) {
    return FoundParent{executor::open_image(services, work.plan().base, work.plan().platform)};
  }
  if (auto parent = build::find_dependencies(services, work)) {
    return FoundParent{std::move(*parent)};
  }
  const auto wheels = make_of_wheels(
      services, work,
      work.request().no_cache ? packaging::Freshness::anew : packaging::Freshness::cached);
  if (wheels.made.image) {
    auto source = packaging::source_of(*wheels.made.image);
    if (work.request().lists_packages()) {
      wheels.made.wheels.survey_new_layers(services);
    }
    return FoundParent{{.image = std::move(source)}, build::ParentOrigin::made_now};
  }
  obstacle = std::string{needs_engine} + join(wheels.made.obstacles, "; ");
  return std::nullopt;
}

/// Reports why an engine is needed if there is none.
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

/// Returns the error for an image that is not pushed, and why Cloud Build cannot make it.
Error cloud_cannot(const std::string& why) {
  return Error(ErrorKind::usage, "`--builder=cloud-build` cannot make this image")
      .cause("Cloud Build pushes to a registry, and " + why)
      .hint("`--output-image-uri=REGION-docker.pkg.dev/PROJECT/REPOSITORY/NAME`");
}

std::unique_ptr<packaging::Builder> builder_for_outputs(Services& services, const Packaging& work) {
  const auto& request = work.request();
  const auto is_docker = [](const Output& output) { return output.kind == Output::Kind::docker; };
  if (std::ranges::any_of(request.outputs, is_docker)) {
    // Reports a missing engine before anything is written.
    services.docker().info();
  }
  std::string obstacle;
  if (auto parent = find_parent(services, work, obstacle)) {
    return build::make_builder_on(services, std::move(parent->image), parent->origin);
  }
  if (request.engine == Engine::direct) {
    throw Error(ErrorKind::usage, direct_cannot)
        .cause(obstacle)
        .hint("`--engine=auto` uses the docker engine if it is needed");
  }
  if (request.uses_cloud_build) {
    throw cloud_cannot("the image goes elsewhere, but needs a build: " + obstacle);
  }
  return std::make_unique<NeededBuilder>(builder_in_engine(services, work), std::move(obstacle));
}

}  // namespace

std::optional<packaging::ParentImage> find_image_below(Services& services,
                                                       const Packaging& work,
                                                       std::string& obstacle) {
  auto found = find_parent(services, work, obstacle);
  if (obstacle.starts_with(needs_engine)) {
    obstacle.erase(0, needs_engine.size());
  }
  return found ? std::optional{std::move(found->image)} : std::nullopt;
}

std::optional<std::string> obstacle_to_direct(const Packaging& work) {
  const auto& wanted = work.wanted();
  if (wanted.request.engine == Engine::direct && stays_in_engine(wanted)) {
    return stays_there;
  }
  return obstacle_to_assembly(work, stays_in_engine(wanted));
}

std::optional<std::string> need_of_engine(Services& services, const Packaging& work) {
  if (work.request().engine == Engine::docker) {
    return "`--engine=docker` asks for it";
  }
  if (auto obstacle = obstacle_to_direct(work)) {
    return obstacle;
  }
  if (!work.needs_dependencies()) {
    return std::nullopt;
  }
  const auto expected = build::expected_installation(services, work);
  return expected.built.empty() ? non_empty(join(expected.obstacles, "; "))
                                : "it builds " + join(expected.built, ", ");
}

BuilderAndPublishers choose_builder(Services& services, const Packaging& work, LookAhead& ahead) {
  const auto& wanted = work.wanted();
  BuilderAndPublishers chosen;
  if (wanted.is_pushed() && !obstacle_to_direct(work)) {
    const auto target = ahead.target(work);
    chosen.builder = build::make_direct_builder(services, target, ahead.layers(work),
                                                make_dependencies_by(services, target));
    chosen.publishers.push_back(publish::to_registry(services, target));
  } else if (wanted.is_pushed()) {
    if (wanted.request.engine == Engine::direct) {
      throw Error(ErrorKind::usage, direct_cannot)
          .cause(obstacle_to_direct(work).value())
          .hint("`--engine=auto` uses the docker engine if it is needed");
    }
    if (wanted.request.uses_cloud_build) {
      chosen.builder = build::make_cloud_builder(services);
      chosen.publishers.push_back(publish::to_registry_tag(services));
    } else {
      chosen.builder = builder_in_engine(services, work);
      chosen.publishers.push_back(publish::to_engine_name(services));
      chosen.publishers.push_back(publish::to_registry_by_engine(services));
    }
  } else if (wanted.request.uses_cloud_build && wanted.request.outputs.empty()) {
    throw cloud_cannot("the image would stay in the docker engine");
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
        .hint("`--engine=auto` loads only the code into the engine, without a build")
        .hint("`autopack build --output=oci:DIR` needs no engine");
  }
}

}  // namespace autopack::pipeline
