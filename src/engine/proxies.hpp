#pragma once

#include "base/environment.hpp"
#include "base/secret.hpp"

#include <map>
#include <string>

namespace autopack::engine {

/// Variables of containers and build steps, such as `HTTP_PROXY` and `http_proxy`, by name. A value
/// may hold a login.
using Proxies = std::map<std::string, Secret>;

/// Returns what `proxies` of docker's config.json sets for the engine at `url`, as docker's command
/// line does; nothing if the file does not exist or cannot be read.
Proxies find_proxies(const Environment& environment, const std::string& url);

}  // namespace autopack::engine
