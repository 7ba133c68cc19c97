#pragma once

#include "plan/modules.hpp"
#include "plan/plan.hpp"
#include "project/python_file.hpp"
#include "project/python_uses.hpp"
#include "project/removed_names.hpp"
#include "python/version.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::plan {

/// A file that Python starts with.
struct Start {
  std::string file{};  ///< in the image, below the working directory
  std::string root{};  ///< the directory that comes first in sys.path
  bool is_script{false};
  std::optional<std::string> origin{};  ///< line of a shell script that starts it; none: the entry
  bool is_sure{false};  ///< it starts whenever the program runs; what a shell script starts may not
};

/// An import that no file of the project answers.
struct OpenImport {
  std::string module{};  ///< `yaml`, `google.cloud.storage`
  std::string path{};    ///< of the file that imports it first
  int line{0};
  /// False where the program may do without: below `try`, `if` and the like, or in a function.
  bool certain{true};
  /// True where it runs whenever the program does, and nothing changes what can be imported.
  bool sure{false};
  /// What to tell when nobody else provides it: the project has such a module elsewhere.
  std::optional<Problem> elsewhere{};
};

/// A program that a file of the project starts.
struct StartedProgram {
  std::string name{};  ///< `ffmpeg`
  std::string path{};  ///< of the file
  int line{0};
  std::string function{};  ///< in whose body it is started; empty: in none

  bool operator==(const StartedProgram&) const = default;
};

/// A Python file that a program surely reaches.
struct ReachedFile {
  std::string path{};  ///< in the image, below the working directory
  const ContextEntry* entry{nullptr};
  bool sure{false};  ///< reached whenever the program runs; false: from what a shell script starts
  std::optional<int> python2_line{};   ///< as of project::PythonFile
  std::optional<int> notebook_line{};  ///< the same
  bool imports_torch{false};
};

/// What following a program's imports through its image finds.
struct ImportFindings {
  Problems problems{};  ///< what Python will not find: modules, files beside the program
  std::vector<StartedProgram> programs{};    ///< by files that the program surely imports
  std::vector<const ContextEntry*> files{};  ///< that the program surely imports, itself included
  std::vector<OpenImport> open{};            ///< each module once, the certain ones first
  std::vector<ReachedFile> reached{};        ///< in the order in which they are
};

/// Follows the imports of a program through the files of its image.
class ImportWalk {
public:
  ImportWalk(const ReadablePlan& plan, const project::Project& project, Start start);

  ImportFindings run();

private:
  void add_root(const std::string& root);
  void add_roots_of(const std::string& value);
  void visit(const ContextEntry* entry, const std::string& path, bool certain);
  void read_all(bool certain);
  void read(const ContextEntry* entry, const std::string& path, bool certain);
  bool note_uses(const ContextEntry& entry,
                 const std::string& path,
                 const project::PythonFile& file,
                 std::string text);
  bool add_literal_roots(const project::PythonUses& uses);
  void note_files(const std::string& path, const std::vector<project::PythonUse>& files);
  void tell_files();
  bool enter(const Module& module, const project::Import& import, std::string_view rest);
  void follow_relative(const project::Import& import, const std::string& path);
  bool stands_in(const Module& module, const project::Import& import, std::string_view rest);
  void follow_absolute(const project::Import& import, const std::string& path);
  std::optional<Problem> elsewhere(const project::Import& import,
                                   const std::string& path,
                                   const std::string& name) const;
  Problem missing(const project::Import& import,
                  const std::string& path,
                  const std::string& name,
                  const source::Entry& there) const;
  void mend_hints(Problem& problem) const;
  void tell_nothing_there(const project::Import& import,
                          const std::string& path,
                          const std::string& wanted);
  bool is_sure(const project::Import& import) const;
  void tell(const project::Import& import, Problem problem);
  void tell_ipython(const std::string& path, int line);
  void tell_removed(const project::Import& import, const std::string& path);
  void tell_tensorflow1(const project::Import& import, const std::string& path);
  void note_open(const project::Import& import, const std::string& path);

  const ReadablePlan& plan_;
  Modules modules_;
  const project::Project& project_;
  Start start_;
  std::optional<python::Version> python_;  ///< of the executor image
  std::vector<std::string> roots_;         ///< sys.path, below the working directory
  bool path_changes_{false};               ///< a file names `sys.path`
  bool modules_change_{false};             ///< a file changes what can be imported
  bool directory_changes_{false};          ///< a file calls `os.chdir`
  std::vector<StartedProgram>
      beside_{};                  ///< files that are only found from the program's directory
  bool needs_first_root_{false};  ///< a module was found in it
  using Waiting = std::deque<std::pair<const ContextEntry*, std::string>>;
  Waiting waiting_;                 ///< what the program surely imports
  Waiting perhaps_;                 ///< what it may do without
  std::set<std::string> seen_;      ///< read, or waiting to be surely
  std::set<std::string> told_;      ///< modules of the project that were reported
  std::set<std::string> answered_;  ///< known packages that directories of the project stand in for
  std::map<std::string, OpenImport> open_;
  ImportFindings findings_;
};

/// What to write instead of a name that Python's own library lost, or which Python has it.
std::string remedy_for(const project::RemovedName& removed);

/// The walk from all files that Python starts with.
ImportFindings walk_imports(const ReadablePlan& plan, const project::Project& project);

}  // namespace autopack::plan
