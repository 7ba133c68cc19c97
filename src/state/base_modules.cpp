#include "state/base_modules.hpp"

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace autopack::state {

std::map<std::string, bool> BaseModules::of(const Digest& image) const {
  std::map<std::string, bool> modules;
  try {
    const auto text = read_file_if_exists(directory_ / (image.hex() + ".json"));
    const auto json = text ? parse_json(*text) : nlohmann::json{};
    if (json.is_object()) {
      for (const auto& [name, there] : json.items()) {
        if (there.is_boolean()) {
          modules[name] = there.get<bool>();
        }
      }
    }
  } catch (const Error&) {
    modules.clear();
  }
  return modules;
}

void BaseModules::store(const Digest& image, const std::map<std::string, bool>& modules) const {
  if (modules.size() > most_names) {
    return;
  }
  try {
    write_file(directory_ / (image.hex() + ".json"), print_json(nlohmann::json(modules)) + "\n");
  } catch (const Error&) {
    // Without a cache, runs are only slower.
    return;
  }
}

}  // namespace autopack::state
