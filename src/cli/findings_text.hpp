#pragma once

#include "base/error.hpp"
#include "cli/error_text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace autopack::cli {

/// Findings for a person: aligned, at most 80 columns, commands that are longer continued with `\`,
/// those with quotes in one line.
std::string findings_text(const Problems& findings,
                          const Paint& paint,
                          Charset charset = Charset::utf8);

/// The same as one object: `findings`, and how many `errors`, `warnings` and `unknown`.
nlohmann::json findings_json(const Problems& findings);

}  // namespace autopack::cli
