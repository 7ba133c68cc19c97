#pragma once

#include "project/findings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

/// The requirements of a conda environment file.
struct CondaEnvironment {
  std::vector<std::string> packages{};  ///< of conda, by name; without `python` and `pip`
  std::string python{};                 ///< `=3.12`, `>=3.8` for `python`; empty: any version
  std::vector<std::pair<std::string, int>> pip{};  ///< lines for pip, with their line numbers
};

/// Returns the conda environment file at the root, by its usual names.
std::optional<std::string> find_conda_environment(const Findings& findings);

/// Reads the `dependencies` of an environment file; ignores unknown entries.
CondaEnvironment read_conda_environment(std::string_view text);

}  // namespace autopack::project
