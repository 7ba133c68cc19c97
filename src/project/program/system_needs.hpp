#pragma once

#include "project/project.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// A need of an installation or a program besides Python packages.
struct SystemNeed {
  std::string message{};  ///< "`git+https://...` is fetched by git"
  /// Any of them is enough: `program:git`, `library:libGL.so.1`.
  std::vector<std::string> any_of{};
  std::string packages{};                   ///< for Debian: `libgl1,libglib2.0-0`; empty: no remedy
  std::optional<std::string> other_hint{};  ///< another remedy
  bool stops_build{false};                  ///< without it the installation fails
  std::string origin{};                     ///< `requirements.txt:3`; empty if unknown
};

/// How requirements are installed.
enum class Installation {
  resolved,  ///< as wheels: the git of this machine fetches repositories
  pinned,    ///< likewise if they leave nothing open, else by pip in the executor image
  by_pip     ///< by pip in the executor image
};

/// Returns the known system needs of the requirements and the project's own package.
std::vector<SystemNeed> system_needs(const source::Tree& tree,
                                     const Project& project,
                                     Installation installation = Installation::pinned);

}  // namespace autopack::project
