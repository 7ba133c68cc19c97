#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Top-level modules that the distribution, by its PEP 503 name, is known to bring.
std::vector<std::string> modules_of(std::string_view distribution);

/// Distributions (PEP 503 names) that are known to provide the module `yaml` or
/// `google.cloud.storage`; empty when none is known.
std::vector<std::string> distributions_of(std::string_view module);

/// The name that a person writes to install the module: `PyYAML` for `yaml`. None unless it is
/// known to be right: people paste it, and a name that is free may be anybody's.
std::optional<std::string> usual_distribution(std::string_view module);

/// The known module that `module`, which nobody knows, may be a misspelling of: `numpy` for
/// `numpyy`. None when none is near.
std::optional<std::string> nearest_module(std::string_view module);

/// True when one of the `named` distributions provides `module`, depends on one that is known to,
/// or has a name that fits the module's.
bool is_brought_by(std::string_view module, const std::vector<std::string>& named);

/// True when it is known which modules the distribution (PEP 503 name) provides.
bool is_known_distribution(std::string_view name);

}  // namespace autopack::project
