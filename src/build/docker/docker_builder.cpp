#include "build/docker/docker_builder.hpp"

#include "build/docker/dependencies.hpp"
#include "build/docker/docker_build.hpp"
#include "executor/probe.hpp"

#include <chrono>

namespace autopack::build {

namespace {

using packaging::Freshness;
using packaging::Packaging;

class DockerBuilder : public EngineBuilder {
public:
  using EngineBuilder::EngineBuilder;

  void make_now(const Packaging& work, Freshness freshness, packaging::Image& image) override {
    const auto start = std::chrono::steady_clock::now();
    const std::string tag = work.keyed_name().tagged();
    const auto result = installs_once(work)
                            ? build_on_dependencies(work, freshness, tag)
                            : build(services(), work, {.tag = tag, .freshness = freshness});
    image.image_id = result.image_id;
    services().reporter->done("Built",
                              built_text(result, std::chrono::steady_clock::now() - start));
  }

private:
  /// Returns true if the project's package is installed once, in a dependency image that stays
  /// until the installation's inputs change. The user's own templates define the installation
  /// themselves.
  static bool installs_once(const Packaging& work) {
    return work.plan().dependencies.install && !work.request().options.templates;
  }

  engine::BuildResult build_on_dependencies(const Packaging& work,
                                            Freshness freshness,
                                            const std::string& tag) {
    auto dependencies = dependencies_in_engine(services(), work, freshness);
    const executor::BuildBase parent{
        services().docker(), {.reference = work.dependency_name(), .image_id = dependencies.id}};
    return build(services(), work,
                 {.tag = tag,
                  .parent = parent.from(),
                  .left_out = std::move(dependencies.made),
                  .freshness = freshness});
  }
};

}  // namespace

std::unique_ptr<EngineBuilder> make_docker_builder(Services& services) {
  return std::make_unique<DockerBuilder>(services);
}

}  // namespace autopack::build
