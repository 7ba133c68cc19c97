#pragma once

#include "engine/docker.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::engine {

/// The state of a container.
struct ContainerState {
  bool is_running{false};
  int status{0};  ///< exit status; 128 + N for signal N
  bool ran_out_of_memory{false};
};

/// The resource usage of a running container.
struct ContainerUsage {
  std::uint64_t memory{0};                    ///< bytes, without the file cache
  std::chrono::nanoseconds processor_time{};  ///< since its start
};

/// Callbacks for a running container.
struct ContainerEvents {
  std::function<void()> started{};
  std::function<void(std::string_view)> output{};
  std::function<void(std::string_view)> errors{};
};

/// Containers that run concurrently on their own networks. A user's interruption ends no call: the
/// caller removes what it created. Thread-safe.
class Containers {
public:
  virtual ~Containers() = default;
  /// Creates a network for containers of this job only. Throws Error(remote) if the engine refuses.
  virtual void make_network(const std::string& name,
                            const std::map<std::string, std::string>& labels) = 0;
  /// Never throws; ignores a network that is already gone.
  virtual void remove_network(const std::string& name) noexcept = 0;
  virtual void make(const std::string& name, const ContainerSpec& spec) = 0;
  /// Starts or restarts a container, passes on its output, and returns its final state.
  virtual ContainerState run(const std::string& name, const ContainerEvents& events) = 0;
  /// Never throws, because the container may have ended meanwhile.
  virtual void signal(const std::string& name, int number) noexcept = 0;
  virtual void disconnect(const std::string& network, const std::string& name) = 0;
  /// Returns a file of a container, running or not; nothing if it does not exist or is larger than
  /// `limit`.
  virtual std::optional<std::string> read_file(const std::string& name,
                                               const std::string& path,
                                               std::size_t limit) = 0;
  /// Returns nothing if the container is not running, or the engine does not report its usage.
  /// Never throws.
  virtual std::optional<ContainerUsage> usage(const std::string& name) noexcept = 0;
  /// Never throws; ignores a container that is already gone.
  virtual void remove(const std::string& name) noexcept = 0;
  /// Removes the containers and networks with `label` whose creators have ended. Never throws.
  virtual void remove_left(const std::string& label) noexcept = 0;
};

std::unique_ptr<Containers> make_containers(const DockerOptions& options);

}  // namespace autopack::engine
