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

/// How a container stands that is watched from without.
struct ContainerState {
  bool is_running{false};
  int status{0};  ///< exit status; 128 + N for signal N
  bool ran_out_of_memory{false};
};

/// What a running container takes of the machine.
struct ContainerUsage {
  std::uint64_t memory{0};                    ///< bytes, without the cache of files
  std::chrono::nanoseconds processor_time{};  ///< since its start
};

/// What is heard of a container while it runs.
struct ContainerEvents {
  std::function<void()> started{};
  std::function<void(std::string_view)> output{};
  std::function<void(std::string_view)> errors{};
};

/// Containers that run side by side on networks of their own. A user's interruption ends no call:
/// whoever made them takes them away again. Safe to use from several threads.
class Containers {
public:
  virtual ~Containers() = default;
  /// A network that only its containers are on. Throws Error(remote) when the engine refuses.
  virtual void make_network(const std::string& name,
                            const std::map<std::string, std::string>& labels) = 0;
  /// Never throws; that it is gone already is no failure.
  virtual void remove_network(const std::string& name) noexcept = 0;
  virtual void make(const std::string& name, const ContainerSpec& spec) = 0;
  /// Starts it, also again, hands over what it writes, and returns how it ended.
  virtual ContainerState run(const std::string& name, const ContainerEvents& events) = 0;
  /// Never throws: it may have ended meanwhile.
  virtual void signal(const std::string& name, int number) noexcept = 0;
  virtual void disconnect(const std::string& network, const std::string& name) = 0;
  /// A file of it, whether or not it runs; none when it is not there or larger than `limit`.
  virtual std::optional<std::string> read_file(const std::string& name,
                                               const std::string& path,
                                               std::size_t limit) = 0;
  /// None when it does not run, or the engine does not tell. Never throws.
  virtual std::optional<ContainerUsage> usage(const std::string& name) noexcept = 0;
  /// Never throws; that it is gone already is no failure.
  virtual void remove(const std::string& name) noexcept = 0;
  /// Removes the containers and networks with `label` whose makers have ended. Never throws.
  virtual void remove_left(const std::string& label) noexcept = 0;
};

/// Those of an engine.
std::unique_ptr<Containers> make_containers(const DockerOptions& options);

}  // namespace autopack::engine
