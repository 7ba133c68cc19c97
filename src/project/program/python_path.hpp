#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// Returns the directories of the tree that PYTHONPATH names in the container, in its order: those
/// below the working directory, and relative ones. An empty part is the working directory.
std::vector<std::string> roots_in_python_path(std::string_view value);

}  // namespace autopack::project
