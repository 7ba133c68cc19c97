#include "executor/python_facts.hpp"

#include "base/text.hpp"
#include "executor/layers.hpp"
#include "executor/probe.hpp"
#include "executor/python_cache.hpp"
#include "executor/python_survey.hpp"
#include "executor/remembered_facts.hpp"
#include "image/file_image.hpp"
#include "image/file_reference.hpp"
#include "services/registry_image.hpp"

#include <fmt/format.h>

namespace autopack::executor {

namespace {

/// Surveys the engine's copy; returns nothing if there is none, or no engine.
std::optional<PythonSurvey> survey_in_engine(Services& services, const image::BaseFacts& base) {
  std::optional<PythonSurvey> survey;
  try {
    auto& docker = services.docker();
    const auto image = image_in_engine(docker, base);
    if (!image) {
      return std::nullopt;
    }
    const std::string step = "look into " + base.reference;
    services.reporter->step({.id = step, .name = step, .state = StepEvent::State::started});
    docker.with_files(image->id, base.platform, [&](engine::ImageFiles& files) {
      const auto view = view_of(files);
      survey = survey_python(*view, base, image->layers.size());
    });
    services.reporter->step({.id = step, .name = step, .state = StepEvent::State::completed});
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
  return survey;
}

image::Source layers_of(Services& services, const image::BaseFacts& base) {
  if (const auto files = image::FileReference::parse(base.reference)) {
    return image::open_files(*files, base.platform);
  }
  auto reference = image::Reference::parse(base.reference);
  if (!base.digest) {
    throw Error(ErrorKind::environment,
                fmt::format("image `{}` is in no registry", printable(base.reference)))
        .hint("start the engine that has it, or push it");
  }
  reference.digest = base.digest;
  return registry_image(services, reference, base.platform);
}

PythonSurvey survey(Services& services, const image::BaseFacts& base, ImagePlaces places) {
  if (auto known = PythonCache::of(services).load(base)) {
    return std::move(*known);
  }
  std::optional<PythonSurvey> found;
  if (places == ImagePlaces::engine_or_layers && !image::names_files(base.reference)) {
    found = survey_in_engine(services, base);
  }
  if (!found) {
    const auto source = layers_of(services, base);
    const auto tree = read_layers(services, source);
    found = survey_python(*view_of(tree), base, source.manifest.layers.size());
  }
  PythonCache::of(services).store(base, *found);
  return std::move(*found);
}

}  // namespace

ImagePlaces image_places(const packaging::Request& request) {
  return request.engine == packaging::Engine::direct ? ImagePlaces::layers
                                                     : ImagePlaces::engine_or_layers;
}

PythonFacts python_facts(Services& services, const image::BaseFacts& base, ImagePlaces places) {
  if (auto known = PythonCache::of(services).load_facts(base)) {
    return std::move(*known);
  }
  if (auto remembered = remembered_python(services, base)) {
    return std::move(*remembered);
  }
  return survey(services, base, places).facts;
}

std::optional<PythonFacts> known_python(Services& services, const image::BaseFacts& base) {
  return PythonCache::of(services).load_facts(base);
}

InstalledFiles installed_files(Services& services,
                               const image::BaseFacts& base,
                               ImagePlaces places) {
  auto known = PythonCache::of(services).load(base);
  if (const auto remembered = known ? std::nullopt : remembered_python(services, base)) {
    if (auto files = remembered_files(services, base, *remembered)) {
      return std::move(*files);
    }
  }
  return known ? std::move(known->files) : survey(services, base, places).files;
}

void cache_python(Services& services,
                  const image::BaseFacts& base,
                  const image::LayerTree& tree,
                  std::size_t layers) {
  PythonCache::of(services).store(base, survey_python(*view_of(tree), base, layers));
}

}  // namespace autopack::executor
