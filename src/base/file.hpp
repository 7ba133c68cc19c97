#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// Size limit for files that are read as text: a name may lead to a file without an end.
constexpr std::size_t largest_text{std::size_t{64} << 20U};

/// The allowed file types. A file that autopack finds by its name must be a regular one, because
/// reading another might never end. A file that the user named may be a pipe (`<(command)`).
enum class FileSort { regular, any };

/// Returns the whole file, or nothing if it does not exist. `/dev/null` is empty. Throws
/// Error(environment) if the file cannot be read or is larger than `largest_text`.
std::optional<std::string> read_file_if_exists(const std::filesystem::path& path,
                                               FileSort sort = FileSort::regular);
/// Returns the whole file; throws Error(environment) naming it if it is missing or unreadable.
std::string read_file(const std::filesystem::path& path, FileSort sort = FileSort::regular);

/// Passes the bytes of a regular file of any size to `take`, in pieces. Throws like read_file.
void read_in_pieces(const std::filesystem::path& path,
                    const std::function<void(std::string_view bytes)>& take);

enum class FileMode { normal, secret };  ///< 0644 and 0600 (before umask)

/// Writes a temporary file beside the target and renames it, so that readers never see a partial
/// file, even after a kill. Creates missing parent directories. Throws Error(environment).
void write_file(const std::filesystem::path& path,
                std::string_view text,
                FileMode mode = FileMode::normal);

}  // namespace autopack
