#include "project/program/python_path.hpp"

#include "base/text.hpp"
#include "source/tree.hpp"

#include <algorithm>

namespace autopack::project {

std::vector<std::string> roots_in_python_path(std::string_view value) {
  constexpr std::string_view home{"/usr/app"};
  std::vector<std::string> roots;
  if (value.empty()) {
    return roots;
  }
  for (const auto& part : split(value, ':')) {
    const bool is_inside = part == home || part.starts_with("/usr/app/");
    if (is_inside || !part.starts_with('/')) {
      const auto below = is_inside ? part.substr(std::min(part.size(), home.size() + 1)) : part;
      if (auto root = source::normalise(below)) {
        roots.push_back(std::move(*root));
      }
    }
  }
  return roots;
}

}  // namespace autopack::project
