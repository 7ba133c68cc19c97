#include "project/code/shell_variables.hpp"

#include "base/contains.hpp"
#include "base/text.hpp"

#include <algorithm>
#include <array>

namespace autopack::project {

namespace {

const std::string unknown{unknown_part};

/// Returns `/..` for `cd "$(dirname "$0")/.." && pwd`.
std::string parent_steps(std::string_view command) {
  std::string steps;
  for (auto at = command.find("/.."); at != std::string_view::npos;
       at = command.find("/..", at + 3)) {
    steps += "/..";
  }
  return steps;
}

}  // namespace

std::optional<std::string> assigned_variable(std::string_view left) {
  if (left.ends_with('+')) {
    left.remove_suffix(1);
  }
  if (left.ends_with(']')) {
    left = left.substr(0, left.find('['));
  }
  return is_variable_name(left) ? std::optional{std::string{left}} : std::nullopt;
}

bool declares_variables(const ShellCommand& command) {
  static constexpr std::array<std::string_view, 5> names{"export", "declare", "local", "readonly",
                                                         "typeset"};
  const auto& words = command.words;
  return !words.empty() && words.front() && contains(names, *words.front());
}

std::string ShellVariables::value(const std::string& name) const {
  if (name == "PWD") {
    return ".";
  }
  if (name == "0") {
    return directory_ + "/script";
  }
  const auto found = variables_.find(name);
  // PYTHONPATH is usually unset.
  return found != variables_.end() ? found->second : name == "PYTHONPATH" ? "" : unknown;
}

std::optional<std::string> ShellVariables::expand_braces(std::string_view inside) const {
  const auto* const end = std::ranges::find_if_not(inside, [](char c) {
    return is_alphanumeric({&c, 1}, "_");
  });
  const std::string name{inside.begin(), end};
  const std::string_view rest = inside.substr(name.size());
  if (name == "BASH_SOURCE") {
    return value("0");
  }
  if (rest.empty()) {
    return value(name);
  }
  if (inside == "@" || inside == "*" || rest.starts_with("[@]") || rest.starts_with("[*]")) {
    return std::nullopt;
  }
  if (rest.starts_with(":-") || rest.starts_with(":=")) {
    const auto instead = rest.substr(2);
    const bool is_plain = instead.find_first_of("$`\"'\\") == std::string_view::npos;
    return variables_.contains(name) ? value(name) : is_plain ? std::string{instead} : unknown;
  }
  return unknown;
}

std::string ShellVariables::substitute(std::string_view command) const {
  const bool own_directory = command.find("dirname") != std::string_view::npos &&
                             (command.find("$0") != std::string_view::npos ||
                              command.find("BASH_SOURCE") != std::string_view::npos);
  if (own_directory) {
    return directory_ + parent_steps(command);
  }
  return command == "pwd" || command == "git rev-parse --show-toplevel" ? "." : unknown;
}

void ShellVariables::settle(ShellCommand& command) {
  auto& words = command.words;
  if (declares_variables(command)) {
    words.clear();
  } else if (words.size() > 1 && words.front() == "for" && words[1]) {
    variables_[*words[1]] = unknown;
  } else if (!words.empty() && words.front() == "read") {
    for (const auto& word : words) {
      variables_[word.value_or("")] = unknown;
    }
  }
  if (!words.empty()) {
    return;
  }
  for (const auto& [name, text] : command.assignments) {
    const auto before = variables_.find(name);
    // Set twice, as in two branches: the valid one is unknown.
    const bool differs = before != variables_.end() && before->second != text;
    variables_[name] = differs ? unknown : text;
  }
}

}  // namespace autopack::project
