#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"
#include "project/requirement_files.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::project {

/// The `# /// script` block of a Python file (PEP 723). Lines are those of the file.
struct ScriptMetadata {
  int line{0};                                              ///< where the block begins
  std::vector<std::pair<std::string, int>> dependencies{};  ///< with their lines
  std::optional<std::pair<std::string, int>> requires_python{};
  int uv_line{0};  ///< of indexes or sources for uv; 0: there are none
  std::optional<std::pair<std::string, int>> problem{};  ///< why it cannot be read
};

/// The block in the text of a file; nothing without one.
std::optional<ScriptMetadata> read_script_metadata(std::string_view text);

/// Reads the block of the script that the request names: its Python version into `project`, and
/// what it depends on into `sources` where nothing else says what is installed.
void read_script_block(Findings& findings,
                       const Request& request,
                       Project& project,
                       RequirementSources& sources);

/// Warns of what a block that is not installed names besides what is.
void report_unread_block(Findings& findings,
                         const RequirementSources& sources,
                         const Project& project);

}  // namespace autopack::project
