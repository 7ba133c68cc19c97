#include "local/usage_watch.hpp"

#include "base/thread.hpp"

#include <utility>

namespace autopack::local {

UsageWatch::UsageWatch(engine::Containers& containers,
                       const std::vector<Replica>& replicas,
                       std::chrono::milliseconds period,
                       Told told)
    : containers_{containers}, replicas_{replicas}, period_{period}, told_{std::move(told)} {
  thread_ = start_thread([this](const std::stop_token& stop) { watch(stop); });
}

void UsageWatch::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const auto& replica : replicas_) {
      if (stop.stop_requested()) {
        return;
      }
      look_at(replica);
    }
    std::unique_lock lock{mutex_};
    woken_.wait_for(lock, stop, period_, [] { return false; });
  }
}

void UsageWatch::look_at(const Replica& replica) {
  const auto usage = containers_.usage(replica.container);
  if (!usage) {
    looks_.erase(replica.container);
    return;
  }
  const Look look{.at = std::chrono::steady_clock::now(), .processor_time = usage->processor_time};
  const auto [before, is_first] = looks_.try_emplace(replica.container, look);
  // The counter of a restarted container starts at zero.
  if (!is_first && look.processor_time >= before->second.processor_time) {
    const std::chrono::duration<double> busy = look.processor_time - before->second.processor_time;
    const std::chrono::duration<double> passed = look.at - before->second.at;
    told_(replica, {.memory = usage->memory, .processors = passed.count() > 0 ? busy / passed : 0});
  }
  before->second = look;
}

}  // namespace autopack::local
