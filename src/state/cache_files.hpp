#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::state {

/// Returns the file's text; nothing if it is missing, cannot be read, or could have been written by
/// another user.
std::optional<std::string> read_quietly(const std::filesystem::path& path);

/// Writes a file of a cache, for its owner alone; now and then removes the oldest of its directory
/// above `limit` bytes or 50,000 files. A failure is no error: a cache that cannot be written costs
/// time, nothing else.
void write_quietly(const std::filesystem::path& path, std::string_view text, std::uint64_t limit);

}  // namespace autopack::state
