#pragma once

#include "base/error.hpp"
#include "cli/error_text.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace autopack::cli {

/// Returns findings for people: aligned, at most 80 columns. Longer commands continue with `\`;
/// those with quotes stay on one line.
std::string findings_text(const Problems& findings,
                          const Paint& paint,
                          Charset charset = Charset::utf8,
                          std::size_t columns = 80);

/// Returns the same as one object: `findings`, and the counts of `errors`, `warnings` and
/// `unknown`.
nlohmann::json findings_json(const Problems& findings);

}  // namespace autopack::cli
