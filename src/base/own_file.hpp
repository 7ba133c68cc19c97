#pragma once

#include "base/descriptor.hpp"

#include <filesystem>

namespace autopack {

/// Opens the regular file `path` for reading. Returns an empty descriptor if there is no such file,
/// if it belongs to another user, and if its group or everybody may write it. A symbolic link
/// counts as no file.
FileDescriptor open_own_file(const std::filesystem::path& path);

/// Creates the directory `path` and the missing directories above it for this user alone. Never
/// throws: whoever writes there reports a directory that is missing.
void create_own_directories(const std::filesystem::path& path);

/// Takes the rights of other users to the directory `path` away if it exists and belongs to this
/// user. Never throws.
void close_to_others(const std::filesystem::path& path);

}  // namespace autopack
