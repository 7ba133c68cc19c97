#include "packaging/image.hpp"

#include "base/json.hpp"

#include <fmt/format.h>

namespace autopack::packaging {

std::string Image::uri() const {
  return digest ? repository + "@" + digest->str() : image_id;
}

std::string planned_text(const Image& image) {
  const auto& dependencies = image.dependencies;
  if (!dependencies) {
    return to_text(image.outcome);
  }
  const bool one_reason = !dependencies->reused && dependencies->reason == image.outcome.reason;
  return one_reason ? "all " + to_text(image.outcome)
                    : fmt::format("dependencies {}; code {}", to_text(*dependencies),
                                  to_text(image.outcome));
}

nlohmann::json to_json(const Image& image) {
  auto layers = nlohmann::json::array();
  for (const auto& layer : image.layers) {
    layers.push_back({{"digest", layer.id}, {"size", layer.size}, {"uploaded", layer.uploaded}});
  }
  nlohmann::json dependencies;
  if (image.dependencies) {
    dependencies = {{"reused", image.dependencies->reused},
                    {"reason", to_text(*image.dependencies)}};
  }
  nlohmann::json result{{"uri", image.digest ? image.uri() : image.repository + ":" + image.tag},
                        {"digest", image.digest ? image.digest->str() : image.image_id},
                        {"tag", image.tag},
                        {"reused", image.outcome.reused},
                        {"reason", to_text(image.outcome)},
                        {"dependencies", std::move(dependencies)},
                        {"engine", image.engine},
                        {"layers", std::move(layers)},
                        {"bytes_uploaded", image.bytes_uploaded}};
  if (image.git) {
    result["git"] = {{"revision", image.git->revision},
                     {"remote", image.git->remote},
                     {"dirty", image.git->dirty}};
  }
  return result;
}

}  // namespace autopack::packaging
