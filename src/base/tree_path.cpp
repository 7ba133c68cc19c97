#include "base/tree_path.hpp"

namespace autopack {

std::string join_path(std::string_view directory, std::string_view name) {
  std::string path;
  path.reserve(directory.size() + 1 + name.size());
  if (!directory.empty()) {
    path.append(directory).push_back('/');
  }
  return path.append(name);
}

std::string parent_path(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string{} : std::string{path.substr(0, slash)};
}

std::string base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return std::string{slash == std::string_view::npos ? path : path.substr(slash + 1)};
}

bool is_below(std::string_view path, std::string_view directory) {
  return directory.empty() || path == directory ||
         (path.size() > directory.size() && path.starts_with(directory) &&
          path[directory.size()] == '/');
}

}  // namespace autopack
