#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>

namespace autopack::job {

/// Returns the first document of `text`. Throws YAML::Exception with the place if it is malformed,
/// or if it is nested too deeply or too large once its aliases are expanded.
YAML::Node load_yaml(const std::string& text);

/// A key that occurs twice in one mapping. YAML forbids that, but yaml-cpp silently reads the first
/// one.
struct RepeatedKey {
  std::string key;
  int first_line;
  int second_line;
};

/// Returns the first key below `node` that occurs twice in one mapping, or nothing.
std::optional<RepeatedKey> repeated_key(const YAML::Node& node);

}  // namespace autopack::job
