#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// What a setup.py says without being run. It is Python, so each fact may be missing; none is made
/// up.
struct SetupPy {
  std::optional<std::string> name{};
  std::map<std::string, std::string> package_directory{};
  std::set<std::string> imports{};          ///< top-level module names
  std::set<std::string> certain_imports{};  ///< those of `imports` that nothing guards
  std::set<std::string> words{};            ///< identifiers, keywords of Python included
  std::vector<std::string> literals{};      ///< strings, f-strings left out
  /// Of install_requires and setup_requires, where they are lists of literals.
  std::vector<std::string> requirements{};
  std::map<std::string, std::vector<std::string>> extras{};  ///< the same of extras_require
};

/// Reads a setup.py with a small tolerant tokenizer.
SetupPy read_setup_py(std::string_view text);

}  // namespace autopack::project
