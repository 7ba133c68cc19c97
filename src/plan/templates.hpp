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

/// All files of `templates/` as they were at build time.
std::span<const Template> embedded_templates();

/// Texts by file name; files of `directory` stand in for the embedded ones. Throws Error(usage)
/// when it is no directory or holds none of the names.
std::map<std::string, std::string> load_templates(
    const std::optional<std::filesystem::path>& directory);

/// Throws Error(usage) with file and line when `text` uses a value that is not in `known`.
void check_template(const std::string& file,
                    std::string_view text,
                    const std::vector<std::string>& known);

/// `text` with each line that is nothing but a tag of a section or partial joined to the next, and
/// `kept_line` in each empty line: so tags leave no empty lines behind, and meant ones stay.
std::string join_tag_lines(std::string_view text);

/// Stands for an empty line while rendering; to be taken out afterwards.
inline constexpr std::string_view kept_line{"\x01"};

}  // namespace autopack::plan
