#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::state {

/// Returns the file's text, or nothing if it is missing, cannot be read, or could have been written
/// by another user.
std::optional<std::string> read_quietly(const std::filesystem::path& path);

/// Writes a file of a cache, for its owner alone. From time to time, removes the oldest files of
/// its directory above `limit` bytes or 50,000 files. Ignores failures: without a cache, runs are
/// only slower.
void write_quietly(const std::filesystem::path& path, std::string_view text, std::uint64_t limit);

}  // namespace autopack::state
