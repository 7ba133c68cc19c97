#pragma once

#include "project/shell_commands.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::project {

/// Whether the words of `command` after the first set variables: `export A=1`.
bool declares_variables(const ShellCommand& command);

/// The variables of a shell script while its commands are read in order. A text they give holds
/// unknown_part for what only running the script would tell.
class ShellVariables {
public:
  /// `directory` is the script's own.
  explicit ShellVariables(const std::string& directory)
      : directory_{directory.empty() ? "." : directory} {}

  /// `$name`.
  std::string value(const std::string& name) const;
  /// `${inside}`; none for all arguments, which make no word.
  std::optional<std::string> expand_braces(std::string_view inside) const;
  /// `$(command)`.
  std::string substitute(std::string_view command) const;

  /// Takes over what `command` sets for those after it; drops the words of a declaration.
  void settle(ShellCommand& command);

private:
  std::string directory_;
  std::map<std::string, std::string> variables_{};
};

}  // namespace autopack::project
