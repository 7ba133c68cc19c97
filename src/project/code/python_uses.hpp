#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A program that a Python file starts, or a file that it opens, named in its text.
struct PythonUse {
  std::string name{};      ///< `ffmpeg`, `../cfg/base.yaml`
  int line{0};             ///< 1-based
  std::string function{};  ///< the function that contains it; empty: none
  bool when_main{false};   ///< below `if __name__ == "__main__":`

  bool operator==(const PythonUse&) const = default;
};

/// How a Python file uses its environment. Excludes branches, `try` blocks and conditional
/// expressions.
struct PythonUses {
  std::vector<PythonUse> programs{};  ///< with `subprocess`, `os.system` and the like
  std::vector<PythonUse> files{};     ///< opened for reading, relative to the working directory
  /// Literal texts that it adds to `sys.path`, relative to the working directory.
  std::vector<std::string> path_texts{};
  bool computes_path{false};      ///< it also changes `sys.path` in another way
  bool changes_directory{false};  ///< `os.chdir`: relative paths are unknown

  bool operator==(const PythonUses&) const = default;
};

/// Parses `text` without running it.
PythonUses read_python_uses(std::string_view text);

/// Returns whether `text` surely uses `name`, other than to define or import it: not in a branch,
/// not below `try`.
bool surely_mentions(std::string_view text, std::string_view name);

}  // namespace autopack::project
