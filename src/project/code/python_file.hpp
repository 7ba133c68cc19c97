#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// The size limit of a program's file, in bytes; larger ones are data or generated.
inline constexpr std::uint64_t largest_program{1'000'000};

/// An `import` of a Python file.
struct Import {
  std::string module{};  ///< dotted; without the dots of a relative one, so it may be empty
  int level{0};          ///< dots of a relative import
  std::vector<std::string> names{};  ///< of `from module import names`
  int line{0};                       ///< 1-based
  bool nested{false};                ///< in a function or another block
  bool optional{false};   ///< below `try`, `if` and the like: its failure may be expected
  bool when_main{false};  ///< below `if __name__ == "__main__":`

  bool operator==(const Import&) const = default;
};

/// A string of a Python file, mostly of one line.
struct PythonString {
  std::string text{};    ///< its value; an f-string as written
  bool computed{false};  ///< an f-string
  int line{0};           ///< 1-based

  bool operator==(const PythonString&) const = default;
};

/// The facts in a Python file that packaging needs.
struct PythonFile {
  std::vector<Import> imports{};
  std::vector<PythonString> strings{};  ///< possible paths
  bool changes_path{false};             ///< names `sys.path`: its module directories are unknown
  /// Installs packages when it runs, or names `sys.modules` or the like: an import that nothing
  /// provides may succeed.
  bool changes_modules{false};
  std::optional<int> python2_line{};   ///< 1-based, of the first `print "..."`
  std::optional<int> notebook_line{};  ///< of the first `!command` or `%magic` of a notebook
  /// Of the first unguarded call of get_ipython(), which exists only in notebooks.
  std::optional<int> ipython_line{};
  std::string script_block{};  ///< the TOML of its `# /// script` block (PEP 723)
  int script_block_line{0};    ///< 1-based, of its first line; 0: there is none

  bool operator==(const PythonFile&) const = default;
};

/// Parses `text` without running it.
PythonFile read_python_file(std::string_view text);

}  // namespace autopack::project
