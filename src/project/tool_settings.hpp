#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A key of autopack's own configuration in a file.
struct ToolSetting {
  std::string key{};
  std::shared_ptr<const nlohmann::json> value{};
  std::string file{};
  int line{0};  ///< 1-based
  /// True if the value is the text of an object with its line numbers in the file.
  bool is_document{false};
  std::string target{};  ///< the name in `targets` that has it; empty: it always applies
};

/// Returns the keys of `[tool.autopack]` in a pyproject.toml's text; empty if it has no such table.
/// Throws Error(usage) with file and line if the text is not TOML.
std::vector<ToolSetting> read_tool_settings(std::string_view text, const std::string& file);

}  // namespace autopack::project
