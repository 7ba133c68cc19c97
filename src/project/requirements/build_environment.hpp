#pragma once

#include "base/error.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// Returns true if the name or the non-empty value suggests a secret: `HF_TOKEN=x`, but not
/// `TOKENIZERS_PARALLELISM=false` or `MAX_TOKENS=512`.
bool looks_secret(const std::string& name, const std::string& value);

/// Returns the variables of `values`, each `NAME=VALUE`, which come from `origin`. Invalid pairs
/// and apparent secrets are errors, because the values stay in the image's history.
std::map<std::string, std::string> read_build_environment(const std::vector<std::string>& values,
                                                          const std::optional<std::string>& origin,
                                                          Problems& problems);

}  // namespace autopack::project
