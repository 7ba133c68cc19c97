#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A word of a shell command; absent if only running the script would determine it.
using ShellWord = std::optional<std::string>;

/// Marks an unknown part in the value of a variable.
inline constexpr char unknown_part{'\x01'};

/// A simple command of a shell script: `NAME=VALUE program word...`.
struct ShellCommand {
  std::vector<ShellWord> words{};
  std::map<std::string, std::string> assignments{};
  std::vector<std::string> files{};  ///< of its redirections, if known
  int line{0};                       ///< 1-based, its first line
  bool in_subshell{false};           ///< between `(` and `)`
  bool defines{false};               ///< defines a function, whose name is the only word
  /// It may not run, or its failure may be expected: in a branch, beside `||`, after a test and
  /// `&&`, in a function that nothing surely calls.
  bool optional{false};
  bool handled{false};           ///< `||` handles its failure
  bool piped{false};             ///< the next command reads its output
  bool after_success{false};     ///< runs only if the command before it succeeds: `a && b`
  std::string function{};        ///< the function that contains it; empty: none
  bool windows_line_end{false};  ///< a carriage return ends it; bash treats it as part of the
                                 ///< command
};

/// Returns true for a valid name of a shell variable.
bool is_variable_name(std::string_view name);

/// Returns the commands of `text` in order, including those of branches and functions. Substitutes
/// variables that the script sets to known texts; `$PWD` and `$(pwd)` become `.`, expressions for
/// the script's own directory become `directory`, and `"$@"` becomes nothing. Never fails.
std::vector<ShellCommand> read_shell(std::string_view text, const std::string& directory);

}  // namespace autopack::project
