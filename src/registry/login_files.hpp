#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::registry {

/// Returns the host of `HOST` or `HOST/PATH`, in lower case.
std::string host_of(const std::string& name);

/// Returns where podman, buildah and skopeo keep logins, in order: only `REGISTRY_AUTH_FILE` if it
/// is set, else `containers/auth.json` in XDG_RUNTIME_DIR (or `/run/containers/USER/auth.json`) and
/// in XDG_CONFIG_HOME (or `~/.config`).
std::vector<std::filesystem::path> podman_files(const Environment& environment, unsigned user);

}  // namespace autopack::registry
