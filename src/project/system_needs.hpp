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
  std::string packages{};                   ///< of Debian: `libgl1,libglib2.0-0`; empty: no remedy
  std::optional<std::string> other_hint{};  ///< another remedy
  bool stops_build{false};                  ///< without it the installation cannot succeed
  std::string origin{};                     ///< `requirements.txt:3`; empty when it is not known
};

/// What the requirements and the project's own package need of the system, as far as it is known;
/// `runs_apt`: the image has packages of its distribution installed, so that pip is run, too.
std::vector<SystemNeed> system_needs(const source::Tree& tree,
                                     const Project& project,
                                     bool runs_apt = false);

}  // namespace autopack::project
