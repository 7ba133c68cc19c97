#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// What runs a script.
struct ScriptLanguage {
  enum class Kind { shell, python, other, binary };

  Kind kind{Kind::shell};
  /// Of the first line, without its directory: `python3`, `perl`; of another language without such
  /// a line, what its name stands for. Nothing if neither says it.
  std::optional<std::string> program{};
  bool by_env{false};            ///< the first line finds it on PATH
  bool windows_line_end{false};  ///< a carriage return ends the first line, which begins with `#!`
};

/// What `text`, a file named `path`, is written for, by its `#!` line, else by its name, else by
/// its first bytes. The shell if nothing speaks against it.
ScriptLanguage language_of(std::string_view path, std::string_view text);

}  // namespace autopack::project
