#pragma once

#include "project/code/shell_commands.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// Returns `X` for `X`, `X+` and `X[0]`, the left side of an assignment; nothing for other text.
std::optional<std::string> assigned_variable(std::string_view left);

/// Returns whether the words of `command` after the first set variables: `export A=1`.
bool declares_variables(const ShellCommand& command);

/// The variables of a shell script while its commands are read in order. Values contain
/// unknown_part for parts that only running the script would determine.
class ShellVariables {
public:
  /// `directory` is the script's own.
  explicit ShellVariables(const std::string& directory)
      : directory_{directory.empty() ? "." : directory} {}

  /// Returns the value of `$name`.
  std::string value(const std::string& name) const;
  /// Returns the value of `${inside}`; nothing for all arguments, which are not a word.
  std::optional<std::string> expand_braces(std::string_view inside) const;
  /// Returns the value of `$(command)`.
  std::string substitute(std::string_view command) const;

  /// Applies the assignments of `command` for later ones; removes the words of a declaration.
  void settle(ShellCommand& command);

private:
  std::string directory_;
  std::map<std::string, std::string> variables_{};
};

}  // namespace autopack::project
