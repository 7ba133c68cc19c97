#pragma once

#include "engine/api.hpp"

namespace autopack::engine {

/// Implements Docker::run on `api`.
int run_container(Api& api,
                  const ContainerSpec& spec,
                  const ContainerStreams& streams,
                  const Cancellation* cancellation);

}  // namespace autopack::engine
