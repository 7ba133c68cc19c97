#pragma once

#include <string>
#include <string_view>

/// Paths of a tree: relative to its root, which is "", with `/` between components.
namespace autopack {

/// Returns `directory/name`, or `name` if `directory` is the root.
std::string join_path(std::string_view directory, std::string_view name);
/// Returns the directory part of a tree path; "" for a path at the root.
std::string parent_path(std::string_view path);
/// Returns the last component of a path.
std::string base_name(std::string_view path);
/// Returns true if `path` is `directory` or below it.
bool is_below(std::string_view path, std::string_view directory);

}  // namespace autopack
