#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// Converts a `--flags-file` (gcloud's format) to command line arguments. The file is a YAML or
/// JSON object of `--flag: value`, or a list of such objects. A list gives the flag once per
/// element, an object becomes `KEY=VALUE,...` with inner lists joined by `;`, `true` and null
/// become a switch, and `false` becomes `--no-flag`. Throws Error(usage) with file and line.
std::vector<std::string> parse_flags_file(std::string_view text, const std::string& file);

}  // namespace autopack::job
