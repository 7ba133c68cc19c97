#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// A file of `templates/`.
struct Template {
  std::string_view name{};
  std::string_view text{};
};

/// Returns all files of `templates/` at build time.
std::span<const Template> embedded_templates();

/// Returns texts by file name; files of `directory` replace the embedded ones. Throws Error(usage)
/// if it is not a directory or contains none of the names.
std::map<std::string, std::string> load_templates(
    const std::optional<std::filesystem::path>& directory);

/// Throws Error(usage) with file and line if `text` uses a value that is not in `known`.
void check_template(const std::string& file,
                    std::string_view text,
                    const std::vector<std::string>& known);

/// Joins each line of `text` that consists of a tag of a section or partial to the next, and puts
/// `kept_line` into each empty line. So tags leave no empty lines, and intended ones stay.
std::string join_tag_lines(std::string_view text);

/// Marks an empty line during rendering; to be removed afterwards.
inline constexpr std::string_view kept_line{"\x01"};

}  // namespace autopack::plan
