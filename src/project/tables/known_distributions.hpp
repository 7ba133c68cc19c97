#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns the known top-level modules of the distribution, by its PEP 503 name.
std::vector<std::string> modules_of(std::string_view distribution);

/// Returns the known distributions (PEP 503 names) that provide the module `yaml` or
/// `google.cloud.storage`; empty if there are none.
std::vector<std::string> distributions_of(std::string_view module);

/// Returns the usual name to install the module: `PyYAML` for `yaml`. Returns nothing unless it is
/// surely right: people paste it, and an unregistered name may belong to anybody.
std::optional<std::string> usual_distribution(std::string_view module);

/// Returns the known module that the unknown `module` may be a misspelling of: `numpy` for
/// `numpyy`. Returns nothing if none is near.
std::optional<std::string> nearest_module(std::string_view module);

/// Returns true if one of the `named` distributions provides `module`, depends on one that is known
/// to, or has a similar name.
bool is_brought_by(std::string_view module, const std::vector<std::string>& named);

/// Returns true if the modules of the distribution (PEP 503 name) are known.
bool is_known_distribution(std::string_view name);

}  // namespace autopack::project
