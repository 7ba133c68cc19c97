#pragma once

#include "project/project.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// What an installation or a program needs besides Python's packages.
struct SystemNeed {
  std::string message{};  ///< "`git+https://...` is fetched by git"
  /// Any of them is enough: `program:git`, `library:libGL.so.1`.
  std::vector<std::string> any_of{};
  std::string packages{};                   ///< of Debian: `libgl1,libglib2.0-0`
  std::optional<std::string> other_hint{};  ///< another remedy
  bool stops_build{false};                  ///< without it the installation cannot succeed
};

/// What the requirements and the project's own package need of the system, as far as it is known.
std::vector<SystemNeed> system_needs(const source::Tree& tree, const Project& project);

}  // namespace autopack::project
