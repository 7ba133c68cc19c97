#pragma once

#include "project/shell_commands.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A program that a shell script or a command looks for on PATH.
struct UsedProgram {
  std::string name{};         ///< `make`
  std::string origin{};       ///< `train.sh:12`
  bool starts_python{false};  ///< it is Python or a launcher of it
  bool after_pip{false};      ///< pip was run before, which may have brought it
};

/// What the commands of a shell script look for on PATH, and what they may change there.
class ShellPrograms {
public:
  /// Notes the programs of `command`, which stands at `origin`. The commands of followed scripts
  /// come in the order in which they run.
  void read(const ShellCommand& command, const std::string& origin);

  /// Notes what `command` may change for those after it.
  void note_changes(const ShellCommand& command);

  /// Notes that `name` is looked for at `origin`, unless it may be something else there.
  void use(const std::string& name, const std::string& origin, bool starts_python = false);

  /// From here on nothing is known of PATH: a file was read that is not known.
  void lose_path() { path_is_known_ = false; }

  /// True for a file that a command before may have made, or made executable.
  bool may_have_made(const std::string& path) const;

  /// The programs that are looked for, each once.
  std::vector<UsedProgram> take() const;

private:
  void read_words(const std::vector<ShellWord>& words, const std::string& origin);

  std::vector<UsedProgram> used_{};
  std::set<std::string, std::less<>> defined_{};  ///< functions and aliases
  std::set<std::string, std::less<>> asked_{};    ///< `command -v NAME`: the script can do without
  std::set<std::string, std::less<>> words_{};    ///< of all commands, and the files they write
  bool path_is_known_{true};
  bool runs_pip_{false};
  bool makes_files_{false};  ///< a command unpacks, fetches or copies files
};

/// True for what the shell runs itself, and for what every image with a shell has.
bool is_in_every_shell(std::string_view program);

}  // namespace autopack::project
