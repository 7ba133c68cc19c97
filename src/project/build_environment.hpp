#pragma once

#include "base/error.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// True when the name or the value, which is not empty, tells of a secret: `HF_TOKEN=x`, but not
/// `TOKENIZERS_PARALLELISM=false` or `MAX_TOKENS=512`.
bool looks_secret(const std::string& name, const std::string& value);

/// The variables of `values`, each `NAME=VALUE`, which came from `origin`. What is no such pair,
/// and what looks like a secret, is an error: the values stay in the image's history.
std::map<std::string, std::string> read_build_environment(const std::vector<std::string>& values,
                                                          const std::optional<std::string>& origin,
                                                          Problems& problems);

}  // namespace autopack::project
