#pragma once

#include "base/error.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The value of `--format`.
struct OutputFormat {
  enum class Kind { text, json, value };

  Kind kind{Kind::text};
  std::vector<std::string> keys{};  ///< for `value(...)`: dotted paths

  /// Throws Error(usage) for anything except nothing, `text`, `json` and `value(KEY[,KEY])`.
  static OutputFormat parse(const std::optional<std::string>& typed);
};

/// Returns the standard output for `result`: the object itself, the values of `keys` separated by
/// tabs, or `text`. Looks up a key in `result`, then in its `job`, then in its `image`. Ends with a
/// line feed.
std::string render(const OutputFormat& format,
                   const nlohmann::json& result,
                   const std::string& text);

/// Returns a warning for each key of `format` that `result` lacks, except fields that a job of
/// Vertex AI gets later.
Problems absent_keys(const OutputFormat& format, const nlohmann::json& result);

}  // namespace autopack::cli
