#pragma once

#include "project/requirement.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// What is wrong with a requirement, and the remedies.
struct ForeignPath {
  std::string message{};
  std::vector<std::string> hints{};
};

/// For a path of the machine on which conda built the package, as `pip freeze` writes it in an
/// environment of conda; none for another requirement.
std::optional<ForeignPath> path_of_another_machine(const Requirement& requirement);

}  // namespace autopack::project
