#include "build/docker/docker_builder.hpp"

#include "base/new_file.hpp"
#include "build/direct/assembly.hpp"
#include "build/direct/installation.hpp"
#include "build/docker/dependencies.hpp"
#include "build/docker/docker_build.hpp"
#include "executor/probe.hpp"
#include "image/file_image.hpp"
#include "publish/engine.hpp"
#include "services/repositories.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

// The engine builds what has to run: requirements without a complete lock, source distributions,
// the user's own Dockerfile. Images that must be in the engine, for `run` and without a registry,
// are built or loaded here, too.

namespace autopack::build {

namespace {

using packaging::Freshness;
using packaging::Image;
using packaging::MadeImage;
using packaging::Outcome;
using packaging::Packaging;

/// Returns the image in the engine that was built for the same key.
std::optional<engine::LocalImage> built_before(engine::Docker& docker, const Packaging& work) {
  auto local = docker.inspect(work.keyed_name().tagged());
  if (!local) {
    return std::nullopt;
  }
  const auto label = local->labels.find(packaging::key_label);
  return label != local->labels.end() && label->second == work.plan().keys.value().image
             ? local
             : std::nullopt;
}

/// Returns the image `name` of the engine, through an unlinked file in the cache.
image::Source taken_out(Services& services, const std::string& name, const std::string& platform) {
  const auto place = services.environment.cache_directory() / "saved.tar";
  sweep_leftovers(place);
  NewFile file{place, FileMode::secret};
  services.docker().save(name, [&](std::string_view bytes) { file.write(bytes); });
  return compress_layers(services, image::open_files({.kind = image::FileReference::Kind::archive,
                                                      .path = file.path(),
                                                      .text = name},
                                                     platform));
}

}  // namespace

MadeImage EngineBuilder::make(const Packaging& work) {
  MadeImage made{.image = work.named_image()};
  if (take_pushed(work, made)) {
    return made;
  }
  made.in_engine = true;
  made.image.outcome = expected_image(work);
  made.image.dependencies = expected_dependencies(work);
  if (!take_built(work, made.image)) {
    make_image(work, made.image);
  }
  made.source = packaging::LazySource{
      [&services = services_, name = work.keyed_name().tagged(), platform = work.plan().platform] {
        return taken_out(services, name, platform);
      }};
  return made;
}

/// Returns true if the registry has the image; then the engine does not need it.
bool EngineBuilder::take_pushed(const Packaging& work, MadeImage& made) const {
  if (!work.wanted().is_pushed() || work.request().no_cache || !work.key_is_whole()) {
    return false;
  }
  const auto keyed = work.keyed_name();
  const auto digest = publish::digest_in_registry(services_.docker(), keyed);
  if (!digest) {
    return false;
  }
  if (const auto limit = work.age_limit(); limit.applies()) {
    const auto repository = open_repository(services_, keyed, registry::Access::pull);
    const auto times = run_times(services_, *repository, *digest, work.plan().platform);
    if (limit.is_past(times, false, std::time(nullptr))) {
      return false;
    }
  }
  made.in_registry = true;
  made.image.digest = digest;
  made.image.outcome = reused_image(work);
  made.image.dependencies = reused_dependencies(work);
  return true;
}

bool EngineBuilder::is_old(const Packaging& work, const std::string& id) const {
  const auto limit = work.age_limit();
  return limit.applies() &&
         limit.is_past(services_.docker().run_times(id), false, std::time(nullptr));
}

/// Returns true if the engine has the image; if it is too old, `image` gets the reason for the
/// rebuild.
bool EngineBuilder::take_built(const Packaging& work, Image& image) const {
  if (work.request().no_cache || !work.key_is_whole()) {
    return false;
  }
  const auto local = built_before(services_.docker(), work);
  if (!local) {
    return false;
  }
  if (is_old(work, local->id)) {
    image.outcome = {.reason = work.age_limit().reason()};
    image.dependencies = image.outcome;
    return false;
  }
  image.image_id = local->id;
  image.outcome = reused_image(work);
  image.dependencies = reused_dependencies(work);
  services_.reporter->detail("the image is " + local->id);
  services_.reporter->done("Reused",
                           fmt::format("{}: {}", work.name_in_engine(), image.outcome.reason));
  return true;
}

void EngineBuilder::make_image(const Packaging& work, Image& image) {
  if (auto why = last_installation(services_, work.plan()).outdated; why && image.dependencies) {
    image.dependencies = Outcome{.reason = std::move(*why)};
  }
  services_.reporter->done("Planned", planned_text(image));
  make_now(work, Freshness::cached, image);
  if (!work.request().no_cache && is_old(work, image.image_id.value())) {
    // The builder's own cache has no age limit.
    make_now(work, Freshness::anew, image);
  }
}

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
