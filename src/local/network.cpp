#include "local/network.hpp"

#include "local/host_resources.hpp"

namespace autopack::local {

Network::Network(engine::Containers& containers, const Cluster& cluster)
    : containers_{containers}, name_{cluster.network} {
  try {
    containers_.make_network(name_, {{job_label, cluster.job}});
  } catch (...) {
    containers_.remove_network(name_);  // an engine whose response was lost may have created it
    throw;
  }
}

Network::~Network() {
  containers_.remove_network(name_);
}

}  // namespace autopack::local
