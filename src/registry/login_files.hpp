#pragma once

#include "base/environment.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::registry {

/// The host of `HOST` or `HOST/PATH`, in lower case.
std::string host_of(const std::string& name);

/// Where podman, buildah and skopeo keep logins, the first first: `REGISTRY_AUTH_FILE` alone, else
/// `containers/auth.json` in XDG_RUNTIME_DIR (without it `/run/containers/USER/auth.json`) and in
/// XDG_CONFIG_HOME (`~/.config` without it).
std::vector<std::filesystem::path> podman_files(const Environment& environment, unsigned user);

}  // namespace autopack::registry
