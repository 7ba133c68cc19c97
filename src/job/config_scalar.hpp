#pragma once

#include "base/error.hpp"

#include <yaml-cpp/yaml.h>

#include <string>

namespace autopack::job {

/// What YAML 1.2's core schema makes of a node; `other` is no scalar, or has a tag but `!!str`.
enum class ScalarKind { null, boolean, integer, floating, string, other };

ScalarKind scalar_kind(const YAML::Node& node);

/// "a string", "a list", ... of any node, for messages.
std::string describe_node(const YAML::Node& node);

}  // namespace autopack::job
