#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace autopack {

/// What is read as a text is no larger: a name may lead to what has no end.
constexpr std::size_t largest_text{std::size_t{64} << 20U};

/// What a name may lead to. A file that is found by its name must be a regular one, or reading it
/// may never end; one that the user named may be a pipe (`<(command)`).
enum class FileSort { regular, any };

/// The whole file; none when it does not exist. `/dev/null` is empty. Throws Error(environment)
/// when it cannot be read or holds more than `largest_text`.
std::optional<std::string> read_file_if_exists(const std::filesystem::path& path,
                                               FileSort sort = FileSort::regular);
/// The whole file; throws Error(environment) naming it when it is missing or unreadable.
std::string read_file(const std::filesystem::path& path, FileSort sort = FileSort::regular);

/// Gives `take` the bytes of a regular file of any size, in pieces. Throws as read_file.
void read_in_pieces(const std::filesystem::path& path,
                    const std::function<void(std::string_view bytes)>& take);

enum class FileMode { normal, secret };  ///< 0644 and 0600 (before umask)

/// Writes beside the target, then renames, so that a reader or a kill never sees half a file.
/// Missing parent directories are made. Throws Error(environment).
void write_file(const std::filesystem::path& path,
                std::string_view text,
                FileMode mode = FileMode::normal);

}  // namespace autopack
