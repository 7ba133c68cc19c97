#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// The flags of a `--flags-file` (gcloud's format), as a command line has them: a YAML or JSON
/// object of `--flag: value`, or a list of such objects. A list gives the flag once per element, an
/// object is `KEY=VALUE,...` with inner lists split by `;`, `true` and nothing are a switch,
/// `false` is
/// `--no-flag`. Throws Error(usage) with file and line.
std::vector<std::string> parse_flags_file(std::string_view text, const std::string& file);

}  // namespace autopack::job
