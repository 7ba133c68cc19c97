#pragma once

#include "job/config_reader.hpp"
#include "job/job.hpp"

#include <nlohmann/json_fwd.hpp>
#include <yaml-cpp/yaml.h>

namespace autopack::job {

/// The only document of `text`. Throws Error(usage) when there are more, and for what is no YAML.
YAML::Node load_document(const std::string& text, const std::string& origin);

/// What a `--config` file says, whichever resource or part of one it is: the body that Config
/// holds. Sets the config's kind and origins.
nlohmann::json read_document(const YAML::Node& node, Config& config, Problems& problems);

}  // namespace autopack::job
