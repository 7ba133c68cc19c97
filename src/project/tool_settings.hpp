#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// One key of autopack's own configuration, as a file has it.
struct ToolSetting {
  std::string key{};
  std::shared_ptr<const nlohmann::json> value{};
  std::string file{};
  int line{0};  ///< 1-based
  /// True when the value is the text of an object, on the lines where it stands in the file.
  bool is_document{false};
};

/// The keys of `[tool.autopack]` in a pyproject.toml's text; none when it has no such table.
/// Error(usage) with file and line when the text is no TOML.
std::vector<ToolSetting> read_tool_settings(std::string_view text, const std::string& file);

}  // namespace autopack::project
