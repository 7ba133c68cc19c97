#pragma once

#include "plan/plan.hpp"
#include "project/code/python_file.hpp"
#include "project/code/python_uses.hpp"
#include "project/code/removed_names.hpp"
#include "python/version.hpp"

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace autopack::plan {

/// The place of a module in the image.
struct Module {
  std::string path{};                 ///< below the working directory, without `.py`
  const ContextEntry* file{nullptr};  ///< the file that an import runs; null for a namespace
  bool is_compiled{false};            ///< compiled, or to be compiled: `fast.pyx`
};

/// Finds the project's modules as Python would, in the image and in the working directory.
class Modules {
public:
  /// `plan` must outlive it.
  explicit Modules(const ReadablePlan& plan) : plan_{plan} {}

  /// Returns the file or directory at `path` of the image, behind its links; null if there is none.
  const ContextEntry* in_image(const std::string& path) const;
  /// Returns the module `name` in the directory `root` of the image. Caches results, because
  /// thousands of files import the same few. The reference is valid as long as this object.
  const std::optional<Module>& find(const std::string& root, const std::string& name);
  /// Returns the module `name` in any directory of the image, for code that changes sys.path.
  std::optional<Module> find_anywhere(const std::string& name);
  /// Returns the extension of the module `name` in the directory `root` of the image that its
  /// Python cannot load: `fast.cpython-39-x86_64-linux-gnu.so`, `fast.pyd`. Null if there is none.
  const ContextEntry* foreign_extension(const std::string& root, const std::string& name) const;
  /// Returns the module `name` in the directory `root` of the working directory, even if it is not
  /// in the image.
  std::optional<source::Entry> on_disk(const std::string& root, const std::string& name) const;

private:
  std::optional<Module> look_for(const std::string& path) const;
  /// The first file `path.*` that the image's Python can load or compile, or cannot load
  /// (`foreign`).
  const ContextEntry* extension(const std::string& path, bool foreign) const;

  const ReadablePlan& plan_;
  std::unordered_map<std::string, std::optional<Module>> found_{};  ///< by look_for's path
  /// Directories by the names of their modules, computed on first use.
  std::optional<std::map<std::string, std::string, std::less<>>> anywhere_{};
};

/// A file that Python starts.
struct Start {
  std::string file{};  ///< in the image, below the working directory
  std::string root{};  ///< the first directory of sys.path
  bool is_script{false};
  std::optional<std::string> origin{};  ///< line of the shell script that starts it; absent: the
                                        ///< entry
  bool is_sure{false};  ///< it starts whenever the program runs; a shell script may skip it
};

/// An import that no file of the project provides.
struct OpenImport {
  std::string module{};  ///< `yaml`, `google.cloud.storage`
  std::string path{};    ///< the first file that imports it
  int line{0};
  /// False if the program may work without it: below `try`, `if` and the like, or in a function.
  bool certain{true};
  /// True if it runs whenever the program does, and nothing changes what can be imported.
  bool sure{false};
  /// The finding if nothing provides it: the project has such a module elsewhere.
  std::optional<Problem> elsewhere{};
};

/// A program that a file of the project starts.
struct StartedProgram {
  std::string name{};  ///< `ffmpeg`
  std::string path{};  ///< of the file
  int line{0};
  std::string function{};  ///< the function that starts it; empty: none

  bool operator==(const StartedProgram&) const = default;
};

/// A Python file that a program surely reaches.
struct ReachedFile {
  std::string path{};  ///< in the image, below the working directory
  const ContextEntry* entry{nullptr};
  bool sure{false};  ///< reached whenever the program runs; false: from a file that a shell script
                     ///< starts
  std::optional<int> python2_line{};   ///< as in project::PythonFile
  std::optional<int> notebook_line{};  ///< the same
  bool imports_torch{false};
};

/// The results of following a program's imports through its image.
struct ImportFindings {
  Problems problems{};                       ///< modules and files that Python will not find
  std::vector<StartedProgram> programs{};    ///< in files that the program surely imports
  std::vector<const ContextEntry*> files{};  ///< that the program surely imports, including itself
  std::vector<OpenImport> open{};            ///< without duplicates, the certain ones first
  std::vector<ReachedFile> reached{};        ///< in the order of reaching them
};

/// Follows the imports of a program through the files of its image.
class ImportWalk {
public:
  ImportWalk(const ReadablePlan& plan, const project::Project& project, Start start);

  ImportFindings run();

private:
  void add_root(const std::string& root);
  void visit(const ContextEntry* entry, const std::string& path, bool certain);
  void read_all(bool certain);
  void read(const ContextEntry* entry, const std::string& path, bool certain);
  bool note_uses(const ContextEntry& entry,
                 const std::string& path,
                 const project::PythonFile& file,
                 std::string text);
  bool add_literal_roots(const project::PythonUses& uses);
  void note_files(const std::string& path, const std::vector<project::PythonUse>& files);
  void report_files();
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
  Problem foreign_extension(const project::Import& import,
                            const std::string& path,
                            const ContextEntry& extension) const;
  void correct_hints(Problem& problem) const;
  void report_nothing_there(const project::Import& import,
                            const std::string& path,
                            const std::string& wanted);
  bool is_sure(const project::Import& import) const;
  void report(const project::Import& import, Problem problem);
  void report_ipython(const std::string& path, int line);
  void report_removed(const project::Import& import, const std::string& path);
  void report_tensorflow1(const project::Import& import, const std::string& path);
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
  Waiting waiting_;                 ///< surely imported by the program
  Waiting perhaps_;                 ///< perhaps imported
  std::set<std::string> seen_;      ///< read, or waiting to be
  std::set<std::string> reported_;  ///< modules of the project that were reported
  std::set<std::string> answered_;  ///< known packages that directories of the project replace
  std::map<std::string, OpenImport> open_;
  ImportFindings findings_;
};

/// Returns what the Python file `entry` contains: as read by the scan of the project, else read
/// now.
project::PythonFile python_file_of(const ReadablePlan& plan,
                                   const project::Project& project,
                                   const ContextEntry& entry);

/// Returns the replacement for a name removed from the standard library, or the Pythons that have
/// it.
std::string remedy_for(const project::RemovedName& removed);

/// Walks the imports of all files that Python starts.
ImportFindings walk_imports(const ReadablePlan& plan, const project::Project& project);

}  // namespace autopack::plan
