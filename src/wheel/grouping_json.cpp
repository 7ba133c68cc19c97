#include "base/json.hpp"
#include "wheel/grouping.hpp"

#include <algorithm>

namespace autopack::wheel {

using nlohmann::json;

std::string to_json(const Grouping& grouping) {
  json layers = json::array();
  for (const auto& layer : grouping.layers) {
    json one{{"wheels", layer.wheels}};
    if (layer.part) {
      one["part"] = *layer.part;
    }
    layers.push_back(std::move(one));
  }
  json warnings = json::array();
  for (const auto& warning : grouping.warnings) {
    warnings.push_back(warning.message);
  }
  const json all{{"layers", layers}, {"warnings", warnings}};
  return write_json(all);
}

std::optional<Grouping> grouping_from_json(std::string_view text, std::size_t wheels) {
  const json read = parse_json(text);
  if (!read.is_object()) {
    return std::nullopt;
  }
  try {
    Grouping grouping;
    for (const auto& one : read.at("layers")) {
      LayerGroup layer{.wheels = one.at("wheels").get<std::vector<std::size_t>>()};
      if (one.contains("part")) {
        layer.part = one.at("part").get<std::pair<std::size_t, std::size_t>>();
      }
      const bool is_known =
          std::ranges::all_of(layer.wheels, [&](std::size_t wheel) { return wheel < wheels; });
      const bool is_part =
          !layer.part || (layer.wheels.size() == 1 && layer.part->first < layer.part->second);
      if (!is_known || !is_part || layer.wheels.empty()) {
        return std::nullopt;
      }
      grouping.layers.push_back(std::move(layer));
    }
    for (const auto& warning : read.at("warnings")) {
      grouping.warnings.push_back(Problem::warning({.message = warning.get<std::string>()}));
    }
    return grouping;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace autopack::wheel
