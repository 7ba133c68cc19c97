#pragma once

#include "source/tree.hpp"

#include <functional>
#include <string_view>
#include <vector>

namespace autopack::source {

/// As walk of tree.hpp. Calls `listed(directory, entries)` with the contents of each directory
/// before any query about them; if it returns false, skips the directory.
void walk(const Tree& tree,
          std::string_view path,
          const std::function<bool(const Entry& directory)>& enter,
          const std::function<bool(std::string_view directory, const std::vector<Entry>& entries)>&
              listed,
          const std::function<void(Entry&& entry)>& visit);

}  // namespace autopack::source
