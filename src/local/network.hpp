#pragma once

#include "engine/containers.hpp"
#include "local/cluster.hpp"

#include <string>

namespace autopack::local {

/// The network of a cluster, or of all trials of a study, because creating and removing one takes
/// the engine half as long as a container. The object owns the network.
class Network {
public:
  /// Throws the engine's error.
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
