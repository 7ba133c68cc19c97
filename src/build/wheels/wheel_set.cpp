#include "build/wheels/gpu_code.hpp"
#include "build/wheels/remembered_wheels.hpp"
#include "build/wheels/wheel_image.hpp"
#include "build/wheels/wheel_lists.hpp"
#include "executor/python_facts.hpp"
#include "executor/remembered_facts.hpp"
#include "sbom/layer_survey.hpp"
#include "sbom/survey_cache.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace autopack::build {

namespace {

bool is_remembered(const RememberedFacts& remembered, const std::string& key) {
  return std::ranges::any_of(remembered.texts, [&](const auto& one) { return one.first == key; });
}

}  // namespace

WheelSet::WheelSet(const WheelRecipes& recipes,
                   const std::vector<RecipeLayer>& layers,
                   wheel::Place place,
                   std::map<std::string, std::string> texts,
                   InstalledWheels installed)
    : wheels_{recipes.chosen},
      place_{std::move(place)},
      texts_{std::move(texts)},
      installed_{std::move(installed)} {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers_.push_back({.key = layers[i].recipe->key,
                       .facts = layers[i].layer.facts,
                       .wheels = recipes.wheels[i],
                       .is_remembered = layers[i].layer.is_there,
                       .is_new = layers[i].layer.is_fresh,
                       .group = recipes.groups[i]});
  }
}

packaging::MovedWheels WheelSet::moved(Services& services,
                                       const std::vector<packaging::SentLayer>& sent) const {
  packaging::MovedWheels moved{.wheels = wheels_->size()};
  std::set<std::size_t> new_wheels;
  for (std::size_t i = 0; i < std::min(sent.size(), layers_.size()); ++i) {
    if (layers_[i].wheels.empty()) {
      continue;
    }
    (sent[i].uploaded ? moved.bytes_sent : moved.bytes_there) += sent[i].size;
    for (const std::size_t wheel : layers_[i].wheels) {
      const bool was_there =
          services.repository_facts &&
          services.repository_facts->has_text(wheel::wheel_files_key(wheels_->at(wheel), place_));
      if (sent[i].uploaded && !was_there) {
        new_wheels.insert(wheel);
      }
    }
  }
  moved.new_wheels = new_wheels.size();
  return moved;
}

void WheelSet::survey_new_layers(const Services& services) const {
  const sbom::SurveyCache cache{services.environment};
  for (const auto& layer : layers_) {
    if (!layer.is_new || !layer.group || !layer.facts || !*layer.facts) {
      continue;
    }
    sbom::LayerSurvey survey;
    wheel::read_files(
        *layer.group, *wheels_, place_,
        [](const std::string& path) { return sbom::kind_of_file(path).has_value(); },
        [&](const std::string& path, const std::string& text) {
          survey.files[path] = sbom::needed_lines(sbom::kind_of_file(path).value(), text);
        });
    cache.put((*layer.facts)->diff_id, survey);
  }
}

std::size_t WheelSet::remembered() const {
  std::set<std::size_t> remembered;
  for (const auto& layer : layers_) {
    if (layer.is_remembered) {
      remembered.insert(layer.wheels.begin(), layer.wheels.end());
    }
  }
  return remembered.size();
}

RepositoryFacts::FindNewFacts WheelSet::new_facts(const Services& services,
                                                  const image::BaseFacts& executor) const {
  return [&services, layers = layers_, wheels = wheels_, place = place_, texts = texts_,
          installed = installed_, base = executor](const RememberedFacts& remembered) {
    NewFacts new_facts = executor::new_facts_of(services, base, remembered);
    for (const auto& layer : layers) {
      if (layer.facts && *layer.facts) {
        new_facts.layers.emplace_back(layer.key, **layer.facts);
      }
    }
    for (const auto& wheel : *wheels) {
      const auto key = wheel::wheel_files_key(wheel, place);
      auto text =
          is_remembered(remembered, key) ? std::nullopt : remembered_list(services, wheel, place);
      if (text) {
        new_facts.lists.emplace(key, std::move(*text));
      }
    }
    new_facts.texts[remembered_wheels_key] = to_json(known_wheels(services, *wheels));
    new_facts.texts.insert(texts.begin(), texts.end());
    new_facts.texts[installed_wheels_key(installed.dependency_key)] =
        to_json_with_code(services, installed.wheels);
    return new_facts;
  };
}

}  // namespace autopack::build
