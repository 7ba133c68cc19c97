#pragma once

#include "engine/api.hpp"

namespace autopack::engine {

/// Implements Docker::run on `api`.
int run_container(Api& api,
                  const ContainerSpec& spec,
                  const ContainerStreams& streams,
                  const Cancellation* cancellation);

/// Returns the body of `POST /containers/create` for `spec`.
std::string container_body(const ContainerSpec& spec, bool has_input);

}  // namespace autopack::engine
