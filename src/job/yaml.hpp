#pragma once

#include <yaml-cpp/yaml.h>

#include <optional>
#include <string>

namespace autopack::job {

/// The first document of `text`. Throws YAML::Exception with the place of what is malformed, and of
/// what nests too deep or becomes too large once its aliases are written out.
YAML::Node load_yaml(const std::string& text);

/// A key that one mapping gives twice, which YAML forbids and yaml-cpp reads as the first of both.
struct RepeatedKey {
  std::string key;
  int first_line;
  int second_line;
};

/// The first key below `node` that a mapping gives twice, or nothing.
std::optional<RepeatedKey> repeated_key(const YAML::Node& node);

}  // namespace autopack::job
