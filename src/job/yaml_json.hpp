#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace autopack::job {

/// Returns the only document of `text` as JSON, with YAML 1.2's core schema; null for an empty
/// document. Throws Error(usage) that names `name` if it is not YAML, has several documents, a key
/// twice in one mapping, or a key that is not a string. The error never shows a value.
nlohmann::json json_of_yaml(const std::string& text, const std::string& name);

/// Returns `value` as a YAML document in block style, which every reader of YAML understands in the
/// same way.
std::string yaml_of_json(const nlohmann::json& value);

}  // namespace autopack::job
