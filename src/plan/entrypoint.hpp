#pragma once

#include "project/project.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::plan {

/// The words of the image's ENTRYPOINT: what starts `entry`, its launcher in front. `python` is the
/// interpreter; none when none is known.
std::vector<std::string> entrypoint_of(const project::Entry& entry,
                                       const std::optional<std::string>& python);

}  // namespace autopack::plan
