#pragma once

#include "base/error.hpp"

#include <yaml-cpp/yaml.h>

#include <string>

namespace autopack::job {

/// The type of a node in YAML 1.2's core schema; `other` is not a scalar, or has a tag other than
/// `!!str`.
enum class ScalarKind { null, boolean, integer, floating, string, other };

ScalarKind scalar_kind(const YAML::Node& node);

/// Returns "a string", "a list", ... for messages.
std::string describe_node(const YAML::Node& node);

}  // namespace autopack::job
