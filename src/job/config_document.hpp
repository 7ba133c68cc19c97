#pragma once

#include "job/config.hpp"

#include <yaml-cpp/yaml.h>

namespace autopack::job {

/// Returns the only document of `text`. Throws Error(usage) if there are several, or if it is not
/// YAML.
YAML::Node load_document(const std::string& text, const std::string& name);

/// Reads a `--config` file, whichever resource or part of one it contains, into the config's job.
void read_document(const YAML::Node& node, Config& config, Problems& problems);

}  // namespace autopack::job
