#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// The interpreter of a script.
struct ScriptLanguage {
  enum class Kind { shell, python, other, binary };

  Kind kind{Kind::shell};
  /// From the first line, without its directory: `python3`, `perl`; without such a line, from the
  /// file's name. Absent if neither determines it.
  std::optional<std::string> program{};
  bool by_env{false};            ///< the first line finds it on PATH
  bool windows_line_end{false};  ///< a carriage return ends the first line, which begins with `#!`
};

/// Returns the language of `text`, a file named `path`, by its `#!` line, else by its name, else by
/// its first bytes; by default the shell.
ScriptLanguage language_of(std::string_view path, std::string_view text);

}  // namespace autopack::project
