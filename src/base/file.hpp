#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// The whole file; none when it does not exist. Throws Error(environment) when it cannot be read.
std::optional<std::string> read_file_if_exists(const std::filesystem::path& path);
/// The whole file; throws Error(environment) naming it when it is missing or unreadable.
std::string read_file(const std::filesystem::path& path);

enum class FileMode { normal, secret };  ///< 0644 and 0600 (before umask)

/// Writes beside the target, then renames, so that a reader or a kill never sees half a file.
/// Missing parent directories are made. Throws Error(environment).
void write_file(const std::filesystem::path& path,
                std::string_view text,
                FileMode mode = FileMode::normal);

}  // namespace autopack
