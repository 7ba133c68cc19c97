#pragma once

#include <yaml-cpp/yaml.h>

#include <string>

namespace autopack::job {

/// The first document of `text`. Throws YAML::Exception with the place of what is malformed, and of
/// what nests too deep or becomes too large once its aliases are written out.
YAML::Node load_yaml(const std::string& text);

}  // namespace autopack::job
