#pragma once

#include "base/environment.hpp"
#include "base/error.hpp"
#include "cli/command.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace autopack::cli {

/// The parts of a command line, before flags are parsed.
struct Arguments {
  std::vector<std::string> tokens{};   ///< up to `--`
  std::vector<std::string> program{};  ///< after it
  bool has_separator{false};
};

/// Splits at the first `--`; `--flag=` becomes the flag and an empty value.
Arguments split_arguments(const std::vector<std::string>& typed);

/// Replaces each `--flags-file FILE` by the flags in the file, in place; files may name other
/// files. `expand(file)` returns a file's flags. Throws Error(usage) for files that include each
/// other.
std::vector<std::string> expand_flags_files(
    const std::vector<std::string>& tokens,
    const std::function<std::vector<std::string>(const std::string& file)>& expand);

/// A parsed command line.
struct Reading {
  GlobalOptions global{};
  const CommandEntry* entry{nullptr};
  std::unique_ptr<Command> command{};
  std::unique_ptr<FlagSet> flags{};
  std::vector<std::string> program_arguments{};
  std::vector<std::string> arguments{};
  Problems warnings{};  ///< about settings and variables
};

/// Fills `reading` from the words `typed` (without the program's name), the environment and files
/// of flags and settings. On an error, keeps everything read before, so that the flags determine
/// how the error is printed. Throws Error(usage).
void read_command_line(Reading& reading,
                       const std::vector<std::string>& typed,
                       const Environment& environment);

}  // namespace autopack::cli
