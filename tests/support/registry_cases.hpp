#pragma once

#include "http/client.hpp"

#include <string>
#include <vector>

namespace autopack::testing {

/// What a registry at `host` answers to everything that autopack asks of one, as lines. The same
/// for every registry that holds nothing yet.
std::vector<std::string> registry_transcript(http::Client& client, const std::string& host);

}  // namespace autopack::testing
