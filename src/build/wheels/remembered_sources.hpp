#pragma once

#include "resolve/resolver.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace autopack::build {

/// Returns `sources` as JSON, only the last ones if there are many.
std::string to_json(const std::vector<resolve::SourceMetadata>& sources);

/// Skips damaged entries.
std::vector<resolve::SourceMetadata> sources_from_json(std::string_view text);

}  // namespace autopack::build
