#include "build/wheels/wheel_set.hpp"

#include "build/wheels/told_wheels.hpp"
#include "build/wheels/wheel_lists.hpp"
#include "executor/told_facts.hpp"

#include <algorithm>
#include <set>

namespace autopack::build {

namespace {

bool is_noted(const Notes& noted, const std::string& key) {
  return std::ranges::any_of(noted.texts, [&](const auto& one) { return one.first == key; });
}

}  // namespace

WheelSet::WheelSet(const WheelRecipes& recipes,
                   const std::vector<RecipeLayer>& layers,
                   wheel::Place place)
    : wheels_{recipes.chosen}, place_{std::move(place)} {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    layers_.push_back({.key = layers[i].recipe->key,
                       .facts = layers[i].layer.facts,
                       .wheels = recipes.wheels[i],
                       .is_noted = layers[i].layer.is_there});
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
      const bool was_there = services.notes && services.notes->has_text(wheel::wheel_files_key(
                                                   wheels_->at(wheel), place_));
      if (sent[i].uploaded && !was_there) {
        new_wheels.insert(wheel);
      }
    }
  }
  moved.new_wheels = new_wheels.size();
  return moved;
}

std::size_t WheelSet::noted() const {
  std::set<std::size_t> noted;
  for (const auto& layer : layers_) {
    if (layer.is_noted) {
      noted.insert(layer.wheels.begin(), layer.wheels.end());
    }
  }
  return noted.size();
}

RepositoryNotes::FindNews WheelSet::news(const Services& services,
                                         const image::BaseFacts& executor) const {
  return [&services, layers = layers_, wheels = wheels_, place = place_,
          base = executor](const Notes& noted) {
    News news = executor::news_of(services, base, noted);
    for (const auto& layer : layers) {
      if (layer.facts && *layer.facts) {
        news.layers.emplace_back(layer.key, **layer.facts);
      }
    }
    for (const auto& wheel : *wheels) {
      const auto key = wheel::wheel_files_key(wheel, place);
      auto text = is_noted(noted, key) ? std::nullopt : remembered_list(services, wheel, place);
      if (text) {
        news.lists.emplace(key, std::move(*text));
      }
    }
    news.texts[told_wheels_key] = to_json(known_wheels(services, *wheels));
    return news;
  };
}

}  // namespace autopack::build
