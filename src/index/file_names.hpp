#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::index {

/// True for the name of a wheel or source archive of `project` (normalised, PEP 503). What pip
/// cannot install is of no project.
bool is_file_of(std::string_view name, const std::string& project);

/// The path that a `file:` URL or a path stands for; none for any other URL.
std::optional<std::filesystem::path> local_path(const std::string& place);

/// The `file:` URL of `path`, made absolute.
std::string file_url(const std::filesystem::path& path);

}  // namespace autopack::index
