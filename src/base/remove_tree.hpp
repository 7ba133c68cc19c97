#pragma once

#include <filesystem>

namespace autopack {

/// Removes `path` with everything below it, including directories that their owner may not change.
/// Never throws, and follows no symbolic link.
void remove_tree(const std::filesystem::path& path);

}  // namespace autopack
