#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// What `--format` asks for.
struct OutputFormat {
  enum class Kind { text, json, value };

  Kind kind{Kind::text};
  std::vector<std::string> keys{};  ///< of `value(...)`: dotted paths

  /// Throws Error(usage) for anything but nothing, `text`, `json` and `value(KEY[,KEY])`.
  static OutputFormat parse(const std::optional<std::string>& typed);
};

/// What stands on standard output for `result`: the object itself, the values of `keys` separated
/// by tabs, or `text`. A key is looked up in `result`, then in its `job`, then in its `image`. Ends
/// with a line feed.
std::string render(const OutputFormat& format,
                   const nlohmann::json& result,
                   const std::string& text);

/// A warning for each key of `format` that `result` does not have, but for the fields that a job of
/// Vertex AI gets in the course of its life.
Problems absent_keys(const OutputFormat& format, const nlohmann::json& result);

}  // namespace autopack::cli
