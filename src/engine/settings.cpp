#include "base/json.hpp"
#include "base/text.hpp"
#include "engine/api.hpp"
#include "engine/docker.hpp"

#include <filesystem>

namespace autopack::engine {

EngineSettings read_settings(const DockerOptions& options) {
  Api api{options};
  const auto info =
      parse_json(api.send_ok(api.request("ask the engine for its settings", "GET", "/info")).body);
  EngineSettings settings{.root_directory = text_at(info, "DockerRootDir"),
                          .https_proxy = non_empty(text_at(info, "HttpsProxy"))};
  if (api.is_local() && !settings.root_directory.empty()) {
    std::error_code failure;
    const auto space = std::filesystem::space(settings.root_directory, failure);
    if (!failure) {
      settings.free_bytes = space.available;
    }
  }
  return settings;
}

}  // namespace autopack::engine
