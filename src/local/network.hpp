#pragma once

#include "engine/containers.hpp"
#include "local/cluster.hpp"

#include <string>

namespace autopack::local {

/// The network of a cluster, or of all trials of a study: the engine takes half as long to make and
/// remove one as a container. It is there as long as this object.
class Network {
public:
  /// Throws what the engine refuses.
  Network(engine::Containers& containers, const Cluster& cluster);
  ~Network();

  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  Network(Network&&) = delete;
  Network& operator=(Network&&) = delete;

private:
  engine::Containers& containers_;
  std::string name_;
};

}  // namespace autopack::local
