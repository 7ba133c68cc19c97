#pragma once

#include "project/code/program_signs.hpp"
#include "project/code/python_file.hpp"
#include "project/findings.hpp"
#include "project/project.hpp"
#include "source/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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

/// The purpose of a file, by its name.
enum class Purpose : std::uint8_t {
  training,  ///< `train.py`, `image_train.py`, `finetune/lora.py`
  entry,     ///< `main.py`, `run_nerf.py`, `__main__.py`
  unknown,   ///< its name does not say
  helper,    ///< for import: `utils.py`, `model.py`
  other,     ///< tests, evaluation, demos, conversion, preparation of data, plots, ...
  tool,      ///< for another tool: `setup.py`, `conftest.py`, `noxfile.py`
};

/// Returns the purpose of the Python file or shell script `path` of a project.
Purpose purpose_of_program(std::string_view path);

/// Returns the purpose of the console script `name`.
Purpose purpose_of_console_script(std::string_view name);

/// Returns true for a directory without training programs, by its name: `tests`, `docs`, `vendor`.
bool is_aside(std::string_view directory_name);

/// Returns true for a directory of demonstrations: `examples`.
bool holds_examples(std::string_view directory_name);

/// How likely a program is meant to run, the least likely first.
enum class Rank : std::uint8_t {
  none,        ///< it is not meant to be run, or has another purpose
  plain,       ///< a file without definitions, with a neutral name
  calls,       ///< its top level calls something, or it is a module with a `__main__` guard
  program,     ///< a program; nothing more is known
  entry,       ///< a program with a name like `main.py`
  example,     ///< trains, in a directory of examples
  root_entry,  ///< like `entry`, at the root, or a console script
  training,    ///< trains, or its name suggests it
};

/// A program of a project that may be meant to run.
struct Candidate {
  std::string file{};     ///< relative to the tree
  std::string command{};  ///< the console script that runs it; may be empty
  Purpose purpose{Purpose::unknown};
  ProgramSigns signs{};
  Rank rank{Rank::none};

  /// Returns the number of directories above it; a console script counts as a file at the root.
  std::size_t depth() const;
};

/// Everything in a project that may be meant to run.
struct Candidates {
  std::vector<Candidate> programs{};     ///< by rank, then name, depth and path
  std::vector<std::string> aside{};      ///< programs with other purposes: tests, demos, plots
  std::vector<std::string> shells{};     ///< shell scripts at the root whose names mean training
  std::vector<std::string> notebooks{};  ///< at the root and below
  bool has_definitions{false};           ///< there are Python files with only definitions
  bool has_modules{false};               ///< there are runnable modules of packages
};

/// Finds programs at the root of a project, then below it.
class CandidateSearch final : private PythonReading {
public:
  /// `tree` must outlive this object.
  CandidateSearch(const source::Tree& tree, const Request& request);

  /// Returns the candidates at the root, including console scripts.
  Candidates at_root();
  /// Returns the candidates at the root and below it. Skips excluded and deep directories.
  Candidates everywhere();

  /// Follows the imports of `file`.
  ProgramReach reach(const std::string& file) const;

  /// Returns the roots of modules: that of the tree, and that of the project's own package.
  const std::vector<std::string>& roots() const { return roots_; }

  /// Returns true if installing the project lets Python find the modules below `root`.
  bool is_installed(const std::string& root) const;

private:
  void add_directory(const std::string& directory, std::vector<std::string>& below);
  void add_file(const source::Entry& entry);
  void add_console_scripts();
  void rank(Candidate& candidate);
  bool is_module(const Candidate& candidate) const;
  PythonFile file(const source::Entry& entry) const override;
  ProgramSigns signs(const source::Entry& entry) const override;
  static bool is_environment(const std::vector<source::Entry>& entries);

  Findings findings_;
  RememberedPython* remembered_;
  Candidates found_;
  std::vector<std::string> below_root_{};  ///< directories
  std::vector<std::string> roots_{""};
  bool installs_{false};
  bool root_is_read_{false};
  std::size_t files_read_{0};
};

}  // namespace autopack::project
