#pragma once

#include "base/environment.hpp"
#include "http/client.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace autopack::registry {

/// Where Docker looks for a registry's certificates: `/etc/docker/certs.d`, and without root
/// `~/.config/docker/certs.d` (XDG_CONFIG_HOME).
std::vector<std::filesystem::path> certificate_directories(const Environment& environment);

/// The authority and the client certificate for `host` (`HOST` or `HOST:PORT`), as Docker keeps
/// them: `DIRECTORY/HOST/*.crt` (one), `*.cert` and `*.key`. What is not there stays empty: the
/// system's authorities. Error(environment) when a certificate has no key beside it.
http::Tls find_certificates(const std::vector<std::filesystem::path>& directories,
                            const std::string& host);

}  // namespace autopack::registry
