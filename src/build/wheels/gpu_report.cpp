#include "build/wheels/gpu_report.hpp"

#include "base/error.hpp"
#include "build/wheels/package_index.hpp"
#include "build/wheels/wheel_image.hpp"

#include <string>
#include <utility>

namespace autopack::build {

namespace {

/// Returns the text `key` that the target repository remembers; nothing if there is none.
std::optional<std::string> remembered_text(Services& services,
                                           const packaging::Packaging& work,
                                           const std::string& key) {
  const auto& base = work.plan().base;
  if (!services.repository_facts || !base.digest) {
    return std::nullopt;
  }
  services.repository_facts->read(*base.digest, work.plan().platform);
  auto texts = services.repository_facts->texts({key});
  return texts.empty() ? std::nullopt : std::optional{std::move(texts.begin()->second)};
}

std::optional<std::vector<InstalledWheel>> wheels_of_image(Services& services,
                                                           const packaging::Packaging& work) {
  if (!work.plan().keys) {
    return std::nullopt;
  }
  const auto key = installed_wheels_key(work.plan().keys->dependencies);
  if (const auto text = services.wheel_records.get(key)) {
    return installed_wheels_from_json(*text);
  }
  if (const auto text = remembered_text(services, work, key)) {
    return take_with_code(services, *text);
  }
  auto expected = expected_installation(services, work);
  return expected.obstacles.empty() && !expected.wheels.empty()
             ? std::optional{std::move(expected.wheels)}
             : std::nullopt;
}

/// Adds the code of wheels whose files are cached.
void read_cached_files(Services& services,
                       const packaging::Packaging& work,
                       std::vector<WheelGpuCode>& wheels) {
  std::optional<PackageIndex> index;
  for (auto& [wheel, libraries] : wheels) {
    if (libraries) {
      continue;
    }
    try {
      if (!index) {
        index.emplace(services, work, std::nullopt);
      }
      if (const auto file = index->wheels().find(wheel.digest.hex())) {
        libraries = read_gpu_code(file->path);
        cache_gpu_code(services, wheel, *libraries);
      }
    } catch (const Error& error) {
      services.reporter->detail(error.what());
    }
  }
}

}  // namespace

std::optional<std::vector<WheelGpuCode>> gpu_code_of_wheels(Services& services,
                                                            const packaging::Packaging& work) {
  const auto installed = wheels_of_image(services, work);
  if (!installed) {
    return std::nullopt;
  }
  std::vector<WheelGpuCode> wheels;
  for (const auto& wheel : *installed) {
    wheels.push_back({.wheel = wheel, .libraries = cached_gpu_code(services, wheel.digest)});
  }
  if (!work.request().devices.empty()) {
    read_cached_files(services, work, wheels);
  }
  return wheels;
}

}  // namespace autopack::build
