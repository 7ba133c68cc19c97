#pragma once

#include "project/findings.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

/// What an environment file of conda asks for.
struct CondaEnvironment {
  std::vector<std::string> packages{};  ///< of conda, by name; `python` and `pip` are left out
  std::string python{};                 ///< `=3.12`, `>=3.8` of `python`; empty: any version
  std::vector<std::pair<std::string, int>> pip{};  ///< lines for pip, with the line they stand on
};

/// The environment file of conda at the root, under one of its usual names.
std::optional<std::string> find_conda_environment(const Findings& findings);

/// Reads the `dependencies` of an environment file; what it does not understand is left out.
CondaEnvironment read_conda_environment(std::string_view text);

}  // namespace autopack::project
