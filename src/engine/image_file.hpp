#pragma once

#include "engine/api.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace autopack::engine {

/// Returns the file `path` of a container, whose archive URL begins with `archive`; nothing if it
/// does not exist or is larger than `limit` bytes. `owner` names the container or its image in
/// messages.
std::optional<std::string> read_container_file(Api& api,
                                               const std::string& archive,
                                               const std::string& owner,
                                               const std::string& path,
                                               std::size_t limit);

}  // namespace autopack::engine
