#include "base/elapsed.hpp"
#include "build/direct/assembly.hpp"
#include "build/docker/dependencies.hpp"
#include "build/docker/docker_builder.hpp"
#include "executor/probe.hpp"
#include "publish/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace autopack::build {

namespace {

using packaging::Freshness;
using packaging::Image;
using packaging::Packaging;

class LoadingBuilder : public EngineBuilder {
public:
  LoadingBuilder(Services& services, std::unique_ptr<EngineBuilder> otherwise)
      : EngineBuilder{services}, otherwise_{std::move(otherwise)} {}

  void make_now(const Packaging& work, Freshness freshness, Image& image) override {
    const auto start = std::chrono::steady_clock::now();
    if (!load_code(work, freshness, image)) {
      otherwise_->make_now(work, freshness, image);
      return;
    }
    image.engine = "direct";
    const auto time = std::chrono::steady_clock::now() - start;
    services().reporter->detail("the image is " + image.image_id.value());
    services().reporter->done("Loaded",
                              fmt::format("{} in {}", work.name_in_engine(), elapsed_text(time)));
  }

private:
  /// Returns the image below the code in the engine; nothing if the engine cannot load a part of an
  /// image. `made` gets the project's files in it.
  std::optional<image::Source> parent_in_engine(const Packaging& work,
                                                Freshness freshness,
                                                std::vector<std::string>& made) {
    auto& docker = services().docker();
    publish::load_executor_image(services(), work.plan());
    const executor::BuildBase base{docker, work.plan().base};
    auto parent = docker.held(base.from());
    if (!parent || !work.needs_dependencies()) {
      return parent;
    }
    auto dependencies = dependencies_in_engine(services(), work, freshness);
    made = std::move(dependencies.made);
    return docker.held(dependencies.id);
  }

  /// Returns how many of the lowest layers need not be loaded again: those of the parent, and those
  /// in the project's last image.
  std::size_t layers_known(const Packaging& work,
                           const packaging::LazyImage& image,
                           const image::Source& source) {
    std::vector<std::string> candidates{work.name().reference.with_tag(packaging::last_run_tag)};
    if (const auto before = work.key_before()) {
      candidates.push_back(work.name().reference.with_tag(packaging::key_tag(*before)));
    }
    const auto& layers = image.layers();
    const auto below =
        std::ranges::count_if(layers, [](const auto& layer) { return layer.is_parents; });
    return std::max(static_cast<std::size_t>(below),
                    publish::layers_there(services().docker(), source, candidates));
  }

  /// Returns false if the engine cannot load a part of an image.
  bool load_code(const Packaging& work, Freshness freshness, Image& image) {
    std::vector<std::string> made;
    auto parent = parent_in_engine(work, freshness, made);
    if (!parent) {
      return false;
    }
    const auto lazy = put_together(services(), work, std::move(*parent),
                                   make_code_layers(services(), work.plan(), made));
    const auto source = packaging::source_of(*lazy);
    const std::size_t there = layers_known(work, *lazy, source);
    services().cancellation->throw_if_requested();
    try {
      publish::load(services().docker(), source, {work.keyed_name().tagged()}, there);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::remote) {
        throw;
      }
      services().reporter->detail(
          fmt::format("{}, so it is built: {}", error.what(), fmt::join(error.causes(), ": ")));
      return false;
    }
    image.image_id = source.manifest.config.digest.str();
    image.layers = own_layers(*lazy);
    return true;
  }

  std::unique_ptr<EngineBuilder> otherwise_;
};

}  // namespace

std::unique_ptr<EngineBuilder> make_loading_builder(Services& services) {
  return std::make_unique<LoadingBuilder>(services, make_docker_builder(services));
}

}  // namespace autopack::build
