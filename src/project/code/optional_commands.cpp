#include "project/code/optional_commands.hpp"

#include "base/contains.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>

namespace autopack::project {

bool surely_succeeds(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 32> names{
      "cd",       "pushd", "popd",  "mkdir",   "export", "source", ".",          "set",
      "rm",       "echo",  "cp",    "printf",  "mv",     "ln",     "date",       "unset",
      "pip",      "pip3",  "sleep", "chmod",   "ulimit", "python", "python3",    "bash",
      "torchrun", "unzip", "conda", "apt-get", "wget",   "tar",    "accelerate", "apt"};
  return command.words.empty() ||
         (command.words.front() && contains(names, *command.words.front()));
}

void mark_uncalled_functions(std::vector<ShellCommand>& commands) {
  std::set<std::string> defined;
  for (const auto& command : commands) {
    if (command.defines) {
      defined.insert(*command.words.front());
    }
  }
  std::set<std::string> called{""};
  for (bool changes = !defined.empty(); changes;) {
    changes = false;
    for (const auto& command : commands) {
      const bool runs = !command.optional && !command.defines && !command.words.empty() &&
                        command.words.front() && called.contains(command.function) &&
                        defined.contains(*command.words.front());
      changes = (runs && called.insert(*command.words.front()).second) || changes;
    }
  }
  for (auto& command : commands) {
    command.optional = command.optional || !called.contains(command.function);
  }
}

}  // namespace autopack::project
