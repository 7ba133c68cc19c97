#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace autopack::project {

/// A program that a Python file starts, or a file that it opens, by a name in its text.
struct PythonUse {
  std::string name{};      ///< `ffmpeg`, `../cfg/base.yaml`
  int line{0};             ///< 1-based
  std::string function{};  ///< in whose body it stands; empty: in none
  bool when_main{false};   ///< below `if __name__ == "__main__":`

  bool operator==(const PythonUse&) const = default;
};

/// What a Python file uses of its surroundings. Nothing that stands in a branch, below `try` or in
/// an expression that decides something.
struct PythonUses {
  std::vector<PythonUse> programs{};  ///< with `subprocess`, `os.system` and the like
  std::vector<PythonUse> files{};     ///< opened to be read, relative to the working directory
  /// What it adds to `sys.path` as plain texts, relative to the working directory.
  std::vector<std::string> path_texts{};
  bool computes_path{false};      ///< it changes `sys.path` in another way, too
  bool changes_directory{false};  ///< `os.chdir`: what relative paths lead to is not known

  bool operator==(const PythonUses&) const = default;
};

/// What `text` uses, without running it.
PythonUses read_python_uses(std::string_view text);

/// Whether `text` surely mentions `name` other than to define or import it: not in a branch, not
/// below `try`.
bool surely_mentions(std::string_view text, std::string_view name);

}  // namespace autopack::project
