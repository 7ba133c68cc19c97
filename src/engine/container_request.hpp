#pragma once

#include "engine/api.hpp"
#include "engine/docker.hpp"

#include <string>
#include <vector>

namespace autopack::engine {

/// Returns the request that creates the container `name`, with this process as its owner and the
/// engine's proxies. For Podman with GPUs, it is one of Podman's own API: the compatible one
/// ignores them before 5.4.
http::Request creation_of(Api& api, const std::string& name, ContainerSpec spec, bool has_input);

/// Returns the body of `POST /containers/create`. With `has_no_label`, SELinux does not confine it.
std::string container_body(const ContainerSpec& spec, bool has_input, bool has_no_label = false);

/// Returns the body of `POST /libpod/containers/create`, a SpecGenerator of Podman 4.0 and newer.
std::string podman_body(const std::string& name,
                        const ContainerSpec& spec,
                        bool has_input,
                        bool has_no_label = false);

/// Returns the names of the Container Device Interface for the GPUs of `spec`:
/// `nvidia.com/gpu=all`, `nvidia.com/gpu=0`. It has none for "any two", so these are the first two.
std::vector<std::string> cdi_names(const ContainerSpec& spec);

}  // namespace autopack::engine
