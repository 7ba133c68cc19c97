#pragma once

#include "http/client.hpp"

#include <string>
#include <vector>

namespace autopack::testing {

/// Returns the responses of a registry at `host` to every kind of request that autopack sends, as
/// lines. The same for every empty registry.
std::vector<std::string> registry_transcript(http::Client& client, const std::string& host);

}  // namespace autopack::testing
