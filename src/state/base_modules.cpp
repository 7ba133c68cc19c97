#include "state/base_modules.hpp"

#include "base/json.hpp"

namespace autopack::state {

namespace {

std::string file_of(const Digest& image) {
  return image.hex() + ".json";
}

}  // namespace

std::map<std::string, bool> BaseModules::of(const Digest& image) const {
  return store_
      .document(file_of(image),
                [](const nlohmann::json& document) {
                  return std::optional{document.get<std::map<std::string, bool>>()};
                })
      .value_or(std::map<std::string, bool>{});
}

void BaseModules::store(const Digest& image, const std::map<std::string, bool>& modules) const {
  if (modules.size() > most_names) {
    return;
  }
  store_.put_document(file_of(image), modules);
}

}  // namespace autopack::state
