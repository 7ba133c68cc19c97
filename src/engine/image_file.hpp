#pragma once

#include "engine/api.hpp"

#include <cstddef>
#include <optional>
#include <string>

namespace autopack::engine {

/// The file `path` of a container, whose archive's address begins with `archive`; none when it is
/// not there or larger than `limit` bytes. `owner` names the container or its image in messages.
std::optional<std::string> read_container_file(Api& api,
                                               const std::string& archive,
                                               const std::string& owner,
                                               const std::string& path,
                                               std::size_t limit);

}  // namespace autopack::engine
