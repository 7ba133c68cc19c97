#pragma once

#include "image/facts.hpp"
#include "pipeline/services.hpp"

#include <map>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// Those of `modules` that the engine's copy of the executor image holds. Each is looked for once
/// for an image, in a container that is never started. Empty when no engine has the image: nothing
/// is pulled for it.
std::vector<std::string> modules_in_base(Services& services,
                                         const image::BaseFacts& base,
                                         const std::vector<std::string>& modules);

/// Whether the executor image holds each of `names`, which may be programs and libraries too (see
/// image::find_contents); what is not known is absent.
std::map<std::string, bool> known_contents(Services& services,
                                           const image::BaseFacts& base,
                                           const std::vector<std::string>& names);

}  // namespace autopack::pipeline
