#include "packaging/image.hpp"

#include "base/json.hpp"
#include "base/text.hpp"

#include <fmt/format.h>

namespace autopack::packaging {

std::string Image::uri() const {
  return digest ? repository + "@" + digest->str() : image_id.value_or("");
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

std::string to_text(const MovedWheels& moved) {
  return fmt::format("{} of {} wheels new, {} sent, {} already in the registry", moved.new_wheels,
                     moved.wheels, human_size(moved.bytes_sent), human_size(moved.bytes_there));
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
  nlohmann::json result{
      {"uri", image.digest ? image.uri() : image.repository + ":" + image.tag},
      {"digest", image.digest ? image.digest->str() : image.image_id.value_or("")},
      {"tag", image.tag},
      {"reused", image.outcome.reused},
      {"reason", to_text(image.outcome)},
      {"dependencies", std::move(dependencies)},
      {"engine", image.engine},
      {"layers", std::move(layers)},
      {"bytes_uploaded", image.bytes_uploaded}};
  if (image.wheels) {
    result["wheels"] = {{"count", image.wheels->wheels},
                        {"new", image.wheels->new_wheels},
                        {"bytes_sent", image.wheels->bytes_sent},
                        {"bytes_there", image.wheels->bytes_there}};
  }
  if (image.git) {
    result["git"] = {{"revision", image.git->revision.value_or("")},
                     {"remote", image.git->remote.value_or("")},
                     {"dirty", image.git->dirty}};
  }
  for (const auto& document : image.attached) {
    result["attached"].push_back({{"name", document.name},
                                  {"artifactType", document.artifact_type},
                                  {"digest", document.digest.str()}});
  }
  return result;
}

}  // namespace autopack::packaging
