#pragma once

#include <functional>
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

}  // namespace autopack::cli
