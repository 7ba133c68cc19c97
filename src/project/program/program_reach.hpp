#pragma once

#include "project/code/program_signs.hpp"
#include "project/code/python_file.hpp"
#include "project/findings.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::project {

/// Reads the Python files of a project.
class PythonReading {
public:
  virtual ~PythonReading() = default;
  virtual PythonFile file(const source::Entry& entry) const = 0;
  virtual ProgramSigns signs(const source::Entry& entry) const = 0;
};

/// The result of following the imports of a program in its project, as far as the first files show.
struct ProgramReach {
  std::set<std::string> files{};      ///< itself included
  bool trains{false};                 ///< one of the files trains
  bool changes_path{false};           ///< the program names `sys.path`
  bool is_relative{false};            ///< it has relative imports
  bool needs_own_directory{false};    ///< its sure imports are beside it
  std::optional<std::string> root{};  ///< where Python must look for its sure imports
  /// `trainer` if `trainer/task.py` imports it; absent if the program does not import its own
  /// package.
  std::optional<std::string> own_package{};
};

/// Follows the imports of `file`, whose modules are searched beside it and below `roots`.
ProgramReach reach_of(const Findings& findings,
                      const std::string& file,
                      const std::vector<std::string>& roots,
                      const PythonReading& read);

}  // namespace autopack::project
