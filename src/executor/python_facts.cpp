#include "executor/python_facts.hpp"

#include "base/text.hpp"
#include "executor/executor_image.hpp"
#include "executor/gpu_code.hpp"
#include "executor/layers.hpp"
#include "executor/probe.hpp"
#include "executor/python_survey.hpp"
#include "executor/record_cache.hpp"
#include "executor/remembered_facts.hpp"
#include "image/file_reference.hpp"

#include <fmt/format.h>

namespace autopack::executor {

namespace {

/// Surveys the engine's copy; returns nothing if there is none, or no engine.
std::optional<PythonSurvey> survey_in_engine(Services& services, const image::BaseFacts& base) {
  try {
    auto& docker = services.docker();
    const auto image = image_in_engine(docker, base);
    if (!image) {
      return std::nullopt;
    }
    const std::string step = "look into " + base.reference;
    services.reporter->step({.id = step, .name = step, .state = StepEvent::State::started});
    std::optional<PythonSurvey> survey;
    docker.with_files(image->id, base.platform, [&](engine::ImageFiles& files) {
      const auto view = view_of(files);
      survey = survey_python(*view, base, image->layers.size());
    });
    services.reporter->step({.id = step, .name = step, .state = StepEvent::State::completed});
    return survey;
  } catch (const Error& error) {
    services.reporter->detail(error.what());
    return std::nullopt;
  }
}

/// Surveys the image and caches the result.
PythonSurvey get_survey(Services& services, const image::BaseFacts& base, ImagePlaces places) {
  std::optional<PythonSurvey> found;
  if (places == ImagePlaces::engine_or_layers && !image::names_files(base.reference)) {
    found = survey_in_engine(services, base);
  }
  if (!found) {
    if (!base.digest) {
      throw Error(ErrorKind::environment,
                  fmt::format("image `{}` is in no registry", printable(base.reference)))
          .hint("start the engine that has it, or push it");
    }
    const auto source = open_image(services, base, base.platform).image;
    const auto tree = read_layers(services, source);
    found = survey_python(*view_of(tree), base, source.manifest.layers.size());
    cache_gpu_libraries(services, base, gpu_libraries(tree));
  }
  own_records(services).python.store(base, *found);
  return std::move(*found);
}

}  // namespace

ImagePlaces image_places(const packaging::Request& request) {
  return !request.may_use_engine() ? ImagePlaces::layers : ImagePlaces::engine_or_layers;
}

PythonFacts python_facts(Services& services, const image::BaseFacts& base, ImagePlaces places) {
  if (auto known = known_python(services, base)) {
    return std::move(*known);
  }
  if (auto remembered = remembered_python(services, base)) {
    return std::move(*remembered);
  }
  return get_survey(services, base, places).facts;
}

std::optional<PythonFacts> known_python(Services& services, const image::BaseFacts& base) {
  return own_records(services).python.load_facts(base);
}

InstalledFiles installed_files(Services& services,
                               const image::BaseFacts& base,
                               ImagePlaces places) {
  if (auto known = own_records(services).python.load(base)) {
    return std::move(known->files);
  }
  if (auto remembered = remembered_files(services, base)) {
    return std::move(*remembered);
  }
  return get_survey(services, base, places).files;
}

InstalledRequirements installed_requirements(Services& services,
                                             const image::BaseFacts& base,
                                             ImagePlaces places) {
  if (auto known = own_records(services).python.load_requirements(base)) {
    return std::move(*known);
  }
  return get_survey(services, base, places).requirements;
}

}  // namespace autopack::executor
