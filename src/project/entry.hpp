#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

namespace autopack::project {

/// What runs, from `script` or `module` of the request. `import_root` is where the package's
/// modules are importable from besides the root; "" for the root alone.
Entry find_entry(Findings& findings, const Request& request, const std::string& import_root);

/// `path` below the tree whether it is absolute or not; none when it leads out.
std::optional<std::string> path_in_tree(const Request& request, const std::string& path);

}  // namespace autopack::project
