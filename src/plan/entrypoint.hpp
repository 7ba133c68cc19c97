#pragma once

#include "project/project.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::plan {

/// Returns the words of the image's ENTRYPOINT: the command that starts `entry`, preceded by its
/// launcher. `python` is the interpreter, if known.
std::vector<std::string> entrypoint_of(const project::Entry& entry,
                                       const std::optional<std::string>& python);

}  // namespace autopack::plan
