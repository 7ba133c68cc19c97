#pragma once

#include "project/program_names.hpp"
#include "project/program_reach.hpp"
#include "project/program_signs.hpp"
#include "project/project.hpp"
#include "source/tree.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace autopack::project {

/// How likely a program is meant to run, the least likely first.
enum class Rank : std::uint8_t {
  none,        ///< it is not meant to be run, or is for something else
  plain,       ///< a file that defines nothing, with a name that does not say anything
  calls,       ///< its top level calls something, or it is a module with a `__main__` guard
  program,     ///< a program, and no more is known
  entry,       ///< a program with a name like `main.py`
  example,     ///< trains, in a directory of examples
  root_entry,  ///< as `entry`, at the root, or a console script
  training,    ///< trains, or its name says that it does
};

/// A program of a project that could be meant to run.
struct Candidate {
  std::string file{};     ///< relative to the tree
  std::string command{};  ///< the console script that runs it; empty: none does
  Purpose purpose{Purpose::unknown};
  ProgramSigns signs{};
  Rank rank{Rank::none};

  /// Directories above it; a console script is as near as a file at the root.
  std::size_t depth() const;
};

/// What a project has that could be meant to run.
struct Candidates {
  std::vector<Candidate> programs{};     ///< by rank, then name, depth and path
  std::vector<std::string> aside{};      ///< programs for something else: tests, demos, plots
  std::vector<std::string> shells{};     ///< shell scripts at the root, by their names for training
  std::vector<std::string> notebooks{};  ///< at the root and below
  bool has_definitions{false};           ///< there are Python files that only define something
  bool has_modules{false};               ///< there are modules of packages that can be run
};

/// Finds programs at the root of a project, then below it.
class CandidateSearch final : private PythonReading {
public:
  /// `tree` must outlive this object.
  CandidateSearch(const source::Tree& tree, const Request& request);

  /// What is at the root, with console scripts.
  Candidates at_root();
  /// What is at the root and below it. Directories that rules leave out, and deep ones, are not
  /// looked into.
  Candidates everywhere();

  /// What the imports of `file` lead to.
  ProgramReach reach(const std::string& file) const;

  /// The roots of modules: that of the tree, and that of the project's own package.
  const std::vector<std::string>& roots() const { return roots_; }

  /// True when installing the project lets Python find the modules below `root`.
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
