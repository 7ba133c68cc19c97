#pragma once

#include "base/descriptor.hpp"

#include <filesystem>

namespace autopack {

/// Opens the regular file `path` for reading. Returns an empty descriptor if there is no such file,
/// if it belongs to another user, or if its group or everybody may write it. Symbolic links count
/// as missing.
FileDescriptor open_own_file(const std::filesystem::path& path);

/// Creates the directory `path` and its missing parents for this user alone. Never throws: whoever
/// writes there reports a missing directory.
void create_own_directories(const std::filesystem::path& path);

/// Removes other users' permissions for the directory `path` if it exists and belongs to this user.
/// Never throws.
void close_to_others(const std::filesystem::path& path);

}  // namespace autopack
