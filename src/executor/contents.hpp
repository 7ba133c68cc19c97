#pragma once

#include "image/facts.hpp"
#include "services/services.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack::executor {

/// Whether to look for contents in the engine, or only in the cache.
enum class LookInto { engine, memory };

/// Returns whether the executor image contains each of `names`: modules, programs, libraries
/// and files (see find_contents), and users (`user:4321`); omits unknown ones. Unless the
/// cache has the result, looks into the engine's copy of the image, if `look` allows it, in a
/// container that is never started; pulls nothing.
std::map<std::string, bool> known_contents(Services& services,
                                           const image::BaseFacts& base,
                                           const std::vector<std::string>& names,
                                           LookInto look);

}  // namespace autopack::executor
