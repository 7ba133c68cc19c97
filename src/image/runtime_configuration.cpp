#include "image/runtime_configuration.hpp"

#include "base/json.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::image {

using nlohmann::json;

json runtime_mount(const std::string& destination,
                   const std::string& type,
                   const std::string& source,
                   const std::vector<std::string>& options) {
  return {{"destination", destination}, {"type", type}, {"source", source}, {"options", options}};
}

json machine_mounts() {
  return json::array({
      runtime_mount("/proc", "proc", "proc", {"nosuid", "noexec", "nodev"}),
      runtime_mount("/dev", "tmpfs", "tmpfs", {"nosuid", "mode=755", "size=65536k"}),
      runtime_mount("/dev/pts", "devpts", "devpts",
                    {"nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"}),
      runtime_mount("/dev/shm", "bind", "/dev/shm", {"rbind", "rw"}),
      runtime_mount("/sys", "bind", "/sys", {"rbind", "ro"}),
  });
}

json runtime_capabilities() {
  const json allowed(container_capabilities);
  return {{"bounding", allowed}, {"effective", allowed}, {"permitted", allowed}};
}

std::vector<std::string> with_usual_variables(std::vector<std::string> variables,
                                              const std::string& home) {
  const auto has = [&](const char* start) {
    return std::ranges::any_of(variables, [&](const auto& one) { return one.starts_with(start); });
  };
  if (!has("PATH=")) {
    variables.insert(variables.begin(), fmt::format("PATH={}", usual_path));
  }
  if (!has("HOME=")) {
    variables.push_back("HOME=" + home);
  }
  return variables;
}

}  // namespace autopack::image
