#pragma once

#include "project/findings.hpp"
#include "project/project.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A program that starts others.
struct Launcher {
  std::optional<std::string_view> module{};  ///< what brings it: `torch`; none: it is not Python's
  bool starts_python{false};                 ///< it takes a Python file itself
  std::optional<std::string_view> module_flag{};  ///< before a dotted module; none: it takes none
  std::optional<std::string_view> subcommand{};   ///< between its name and its options: `launch`
};

/// The launcher that `words` begin with; none when autopack does not know it.
std::optional<Launcher> find_launcher(std::span<const std::string> words);

/// The launcher that `program` is most likely a misspelling of.
std::optional<std::string> nearest_launcher(std::string_view program);

/// True for `python`, `python3`, `python3.11`.
bool is_interpreter(std::string_view program);

/// The words of `request.launcher` for `entry`, with findings where it cannot start it.
std::vector<std::string> read_launcher(Findings& findings,
                                       const Request& request,
                                       const Entry& entry);

}  // namespace autopack::project
