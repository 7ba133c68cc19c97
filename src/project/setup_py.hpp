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
  /// What `packages=` holds.
  struct Packages {
    bool computed{false};  ///< by code that cannot be followed
    bool find{false};      ///< find_packages()
    bool namespaces{false};
    std::string where{};
    std::vector<std::string> listed{};
  };

  std::string name{};
  std::optional<Packages> packages{};
  std::optional<std::vector<std::string>> modules{};  ///< py_modules
  std::map<std::string, std::string> package_directory{};
  bool package_directory_computed{false};
  bool modules_computed{false};
  std::set<std::string> imports{};      ///< top-level module names
  std::set<std::string> words{};        ///< identifiers, keywords of Python included
  std::vector<std::string> literals{};  ///< strings, f-strings left out
  std::vector<std::string> paths{};     ///< neighbouring strings joined: `"docs", "a.md"`
  bool computes_file_name{false};       ///< an f-string looks like the name of a file
};

/// Reads a setup.py with a small tolerant tokenizer.
SetupPy read_setup_py(std::string_view text);

/// True when the Python module `text` assigns a literal to `name` at its top level, so that a tool
/// can read it without importing the module.
bool assigns_literal(std::string_view text, std::string_view name);

}  // namespace autopack::project
