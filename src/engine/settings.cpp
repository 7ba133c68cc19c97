#include "base/json.hpp"
#include "base/text.hpp"
#include "engine/api.hpp"
#include "engine/docker.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace autopack::engine {

std::string store_of(const nlohmann::json& info) {
  const auto driver = text_at(info, "Driver");
  const auto status = info.is_object() ? info.find("DriverStatus") : info.end();
  const bool is_containerd =
      info.is_object() && status != info.end() &&
      write_json(*status).find("io.containerd.snapshotter") != std::string::npos;
  return is_containerd ? fmt::format("containerd ({})", driver) : driver;
}

EngineSettings read_settings(const DockerOptions& options) {
  Api api{options};
  const auto info =
      parse_json(api.send_ok(api.request("ask the engine for its settings", "GET", "/info")).body);
  EngineSettings settings{.store = store_of(info),
                          .root_directory = text_at(info, "DockerRootDir"),
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
