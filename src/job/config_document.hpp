#pragma once

#include "job/config.hpp"

#include <yaml-cpp/yaml.h>

namespace autopack::job {

/// The only document of `text`. Throws Error(usage) when there are more, and for what is no YAML.
YAML::Node load_document(const std::string& text, const std::string& name);

/// Reads what a `--config` file says, whichever resource or part of one it is, into the config's
/// job.
void read_document(const YAML::Node& node, Config& config, Problems& problems);

}  // namespace autopack::job
