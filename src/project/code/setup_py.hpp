#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A call of find_packages() with literal arguments.
struct PackageSearch {
  std::string where{};                    ///< a directory
  std::vector<std::string> include{"*"};  ///< patterns of dotted names, as fnmatch has them
  std::vector<std::string> exclude{};
};

/// The contents of the wheel that a setup.py makes, as its literals have them.
struct SetupFiles {
  std::optional<std::string> name{};
  std::optional<std::string> version{};
  std::vector<std::string> packages{};    ///< dotted names
  std::optional<PackageSearch> search{};  ///< finds more packages
  std::string root{};                     ///< the directory of packages and modules, as written
  std::vector<std::string> modules{};
  std::vector<std::string> scripts{};                      ///< paths
  std::map<std::string, std::vector<std::string>> data{};  ///< globs by package, "" for all
  bool has_listed_data{false};                             ///< include_package_data
  std::optional<std::string> entry_points{};               ///< the text of entry_points.txt
  std::optional<std::string> requires_python{};
};

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
  /// Absent unless all arguments that decide about the wheel are literals, and nothing else in the
  /// file has an effect (see only_setup_has_effect()).
  std::optional<SetupFiles> certain_files{};
};

/// Reads a setup.py with a small tolerant tokenizer.
SetupPy read_setup_py(std::string_view text);

}  // namespace autopack::project
