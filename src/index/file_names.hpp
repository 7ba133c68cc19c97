#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::index {

/// True for the name of a wheel or source archive of `project` (normalised, PEP 503). A file that
/// pip cannot install belongs to no project.
bool is_file_of(std::string_view name, const std::string& project);

/// Returns the path of a `file:` URL or a path; nothing for any other URL.
std::optional<std::filesystem::path> local_path(const std::string& place);

/// Returns the `file:` URL of the absolute form of `path`.
std::string file_url(const std::filesystem::path& path);

}  // namespace autopack::index
