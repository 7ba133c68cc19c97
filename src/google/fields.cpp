#include "google/fields.hpp"

#include "base/json.hpp"

namespace autopack::google {

std::string text_at(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) {
    return {};
  }
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace autopack::google
