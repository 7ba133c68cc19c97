#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A word of a shell command; none when only running the script would tell it.
using ShellWord = std::optional<std::string>;

/// Stands for what is not known in the value of a variable.
inline constexpr char unknown_part{'\x01'};

/// A simple command of a shell script: `NAME=VALUE program word...`.
struct ShellCommand {
  std::vector<ShellWord> words{};
  std::map<std::string, std::string> assignments{};
  std::vector<std::string> files{};  ///< of its redirections, as far as they are known
  int line{0};                       ///< 1-based, on which it begins
  bool in_subshell{false};           ///< between `(` and `)`
  bool defines{false};               ///< a function; its name is the only word
  /// It may not run, or its failure may be meant: in a branch, beside `||`, after a test and `&&`,
  /// in a function that nothing surely calls.
  bool optional{false};
  std::string function{};        ///< whose body it is in; empty: none
  bool windows_line_end{false};  ///< a carriage return ends it, which bash takes as part of it
};

/// Is `name` one that a shell takes for a variable's?
bool is_variable_name(std::string_view name);

/// The commands of `text`, in order, those of branches and functions too. Variables that the script
/// sets to known texts are put in their places, `$PWD` and `$(pwd)` are `.`, and what finds the
/// script's own directory is `directory`; `"$@"` is nothing. Never fails.
std::vector<ShellCommand> read_shell(std::string_view text, const std::string& directory);

}  // namespace autopack::project
