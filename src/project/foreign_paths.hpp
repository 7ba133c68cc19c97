#pragma once

#include "python/requirement.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// The error in a requirement, and the remedies.
struct ForeignPath {
  std::string message{};
  std::vector<std::string> hints{};
};

/// Reports a path of the machine on which conda built the package, as `pip freeze` writes it in a
/// conda environment; returns nothing for other requirements.
std::optional<ForeignPath> path_of_another_machine(const python::Requirement& requirement);

}  // namespace autopack::project
