#pragma once

#include "image/facts.hpp"
#include "services/services.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack::executor {

/// What an executor image holds is asked of the engine, or only of what is remembered.
enum class LookInto { engine, memory };

/// Whether the executor image holds each of `names`, which may be modules, programs and libraries
/// (see image::find_contents); what is not known is absent. Each is looked for once in the engine's
/// copy of an image, in a container that is never started, when `look` allows it: nothing is pulled
/// for it.
std::map<std::string, bool> known_contents(Services& services,
                                           const image::BaseFacts& base,
                                           const std::vector<std::string>& names,
                                           LookInto look);

}  // namespace autopack::executor
