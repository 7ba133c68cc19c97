#pragma once

#include "engine/containers.hpp"
#include "local/cluster.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace autopack::local {

/// The current resource usage of a replica.
struct Usage {
  std::uint64_t memory{0};  ///< bytes
  double processors{0};     ///< average since the last sample
};

/// Samples the usage of running containers periodically, on its own thread, until destroyed.
class UsageWatch {
public:
  using Told = std::function<void(const Replica& replica, const Usage& usage)>;

  /// All arguments must outlive it. A replica is reported from its second sample on.
  UsageWatch(engine::Containers& containers,
             const std::vector<Replica>& replicas,
             std::chrono::milliseconds period,
             Told told);

private:
  struct Look {
    std::chrono::steady_clock::time_point at{};
    std::chrono::nanoseconds processor_time{};
  };

  void watch(const std::stop_token& stop);
  void look_at(const Replica& replica);

  engine::Containers& containers_;
  const std::vector<Replica>& replicas_;
  std::chrono::milliseconds period_;
  Told told_;
  std::mutex mutex_;
  std::condition_variable_any woken_;
  std::map<std::string, Look> looks_{};
  std::jthread thread_{};  // last: it uses all the others
};

}  // namespace autopack::local
