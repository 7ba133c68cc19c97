#pragma once

#include "base/environment.hpp"
#include "http/client.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::registry {

/// Returns the directories where Docker looks for a registry's certificates: `/etc/docker/certs.d`,
/// and without root `~/.config/docker/certs.d` (XDG_CONFIG_HOME).
std::vector<std::filesystem::path> certificate_directories(const Environment& environment);

/// Returns the authority and the client certificate for `host` (`HOST` or `HOST:PORT`), from
/// Docker's files: `DIRECTORY/HOST/*.crt` (one), `*.cert` and `*.key`. Missing ones stay empty,
/// which means the system's authorities. Throws Error(environment) if a certificate has no key
/// beside it.
http::Tls find_certificates(const std::vector<std::filesystem::path>& directories,
                            const std::string& host);

}  // namespace autopack::registry
