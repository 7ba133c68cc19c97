#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// The facts in a setup.py, found without running it. It is Python, so each may be missing; none is
/// guessed.
struct SetupPy {
  std::optional<std::string> name{};
  std::map<std::string, std::string> package_directory{};
  std::set<std::string> imports{};          ///< top-level module names
  std::set<std::string> certain_imports{};  ///< unguarded ones of `imports`
  std::set<std::string> words{};            ///< identifiers, including Python's keywords
  std::vector<std::string> literals{};      ///< strings, except f-strings
  /// From install_requires and setup_requires, if they are literal lists.
  std::vector<std::string> requirements{};
  std::map<std::string, std::vector<std::string>> extras{};  ///< likewise from extras_require
  /// The requirements of the package as its METADATA has them, those of extras with their markers;
  /// absent unless one unconditional setup() gets nothing but plain lists of strings.
  std::optional<std::vector<std::string>> certain_requirements{};
};

/// Reads a setup.py with a small tolerant tokenizer.
SetupPy read_setup_py(std::string_view text);

}  // namespace autopack::project
