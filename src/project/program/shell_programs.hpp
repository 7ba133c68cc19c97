#pragma once

#include "project/code/shell_commands.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A program that a shell script or a command runs from PATH.
struct UsedProgram {
  std::string name{};         ///< `make`
  std::string origin{};       ///< `train.sh:12`
  bool starts_python{false};  ///< it is Python or a launcher of Python
  bool after_pip{false};      ///< pip ran before and may have installed it
};

/// The programs that the commands of a shell script run from PATH, and how they may change it.
class ShellPrograms {
public:
  /// Records the programs of `command` at `origin`. Call it in the order in which commands run,
  /// including followed scripts.
  void read(const ShellCommand& command, const std::string& origin);

  /// Records what `command` may change for later ones.
  void note_changes(const ShellCommand& command);

  /// Records that `name` is run at `origin`, unless it may mean something else there.
  void use(const std::string& name, const std::string& origin, bool starts_python = false);

  /// Treats PATH as unknown from here on, because an unknown file was sourced.
  void lose_path() { path_is_known_ = false; }

  /// Returns true for a file that an earlier command may have created, or made executable.
  bool may_have_made(const std::string& path) const;

  /// Returns the recorded programs, without duplicates.
  std::vector<UsedProgram> take() const;

private:
  void read_words(const std::vector<ShellWord>& words, const std::string& origin);

  std::vector<UsedProgram> used_{};
  std::set<std::string, std::less<>> defined_{};  ///< functions and aliases
  std::set<std::string, std::less<>> asked_{};    ///< `command -v NAME`: optional for the script
  std::set<std::string, std::less<>> words_{};    ///< of all commands, and the files they write
  bool path_is_known_{true};
  bool runs_pip_{false};
  bool makes_files_{false};  ///< a command unpacks, fetches or copies files
};

/// Returns true for shell builtins, and for programs of every image with a shell.
bool is_in_every_shell(std::string_view program);

}  // namespace autopack::project
