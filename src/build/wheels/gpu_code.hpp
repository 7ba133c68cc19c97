#pragma once

#include "base/digest.hpp"
#include "build/wheels/installed_wheels.hpp"
#include "gpu/library_code.hpp"
#include "services/services.hpp"
#include "wheel/layers.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// Caches the GPU code of each wheel whose files are all written to layers in this run, by the
/// wheel's digest. Its layers may be written on several threads.
class GpuCodeReader : public std::enable_shared_from_this<GpuCodeReader> {
public:
  /// `services` must outlive it.
  GpuCodeReader(const Services& services,
                std::shared_ptr<const std::vector<wheel::ChosenWheel>> wheels);

  /// Returns what sees the files of one layer. Each layer that is written needs its own.
  wheel::Watch watch();

private:
  struct Seen {
    std::size_t files{0};
    std::vector<gpu::Library> libraries{};
  };

  void add(std::size_t wheel, gpu::Library library);
  void add_files(std::size_t wheel, std::size_t files, std::size_t of);

  const Services& services_;
  std::shared_ptr<const std::vector<wheel::ChosenWheel>> wheels_;
  std::mutex mutex_{};
  std::map<std::size_t, Seen> seen_{};  ///< by the place of the wheel
};

/// Returns the key of the text about a wheel's GPU code in the cache.
std::string gpu_code_key(const Digest& wheel);

/// Returns a text for take_with_code(), with the code that is cached.
std::string to_json_with_code(const Services& services, const std::vector<InstalledWheel>& wheels);

/// Returns the wheels in `text`, and caches their code unless it is cached; returns nothing if the
/// text is damaged.
std::optional<std::vector<InstalledWheel>> take_with_code(const Services& services,
                                                          const std::string& text);

/// Returns the libraries with GPU code in the wheel file `path`, all of which it reads. Throws as
/// wheel::Zip does.
std::vector<gpu::Library> read_gpu_code(const std::filesystem::path& path);

/// Caches the GPU code of `wheel`, and that its version is one with known code.
void cache_gpu_code(const Services& services,
                    const InstalledWheel& wheel,
                    const std::vector<gpu::Library>& libraries);

/// Returns the wheels of the package `name` whose GPU code this machine has read, oldest first.
std::vector<InstalledWheel> wheels_with_known_code(const Services& services,
                                                   const std::string& name);

/// Returns the cached GPU code of a wheel; nothing if this machine has not read the wheel.
std::optional<std::vector<gpu::Library>> cached_gpu_code(const Services& services,
                                                         const Digest& wheel);

}  // namespace autopack::build
