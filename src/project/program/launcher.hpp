#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A program that starts other programs.
struct Launcher {
  std::optional<std::string_view> module{};  ///< its module: `torch`; absent: it is not from Python
  bool starts_python{false};                 ///< it accepts a Python file itself
  std::optional<std::string_view> module_flag{};  ///< before a dotted module; absent: not supported
  std::optional<std::string_view> subcommand{};   ///< between its name and its options: `launch`
};

/// Returns the launcher at the start of `words`; nothing if it is unknown.
std::optional<Launcher> find_launcher(std::span<const std::string> words);

/// Returns the launcher that `program` is probably a misspelling of.
std::optional<std::string> nearest_launcher(std::string_view program);

/// Matches `python`, `python3`, `python3.11`.
bool is_interpreter(std::string_view program);

/// Returns the words of `request.launcher` for `entry`; reports findings if it cannot start it.
std::vector<std::string> read_launcher(Findings& findings,
                                       const Request& request,
                                       const Entry& entry);

}  // namespace autopack::project
