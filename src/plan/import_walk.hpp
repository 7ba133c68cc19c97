#pragma once

#include "plan/plan.hpp"
#include "project/python_file.hpp"

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
  std::string origin{};  ///< the line of a shell script that starts it; empty for the entry
};

/// An import that no file of the project answers.
struct OpenImport {
  std::string module{};  ///< `yaml`, `google.cloud.storage`
  std::string path{};    ///< of the file that imports it first
  int line{0};
  /// False where the program may do without: below `try`, `if` and the like, or in a function.
  bool certain{true};
  /// What to tell when nobody else provides it: the project has such a module elsewhere.
  std::optional<Problem> elsewhere{};
};

/// What following a program's imports through its image finds.
struct ImportFindings {
  Problems problems{};             ///< modules of the project that Python will not find
  std::vector<OpenImport> open{};  ///< each module once, the certain ones first
};

/// Follows the imports of a program through the files of its image.
class ImportWalk {
public:
  ImportWalk(const ReadablePlan& plan, const project::Project& project, Start start);

  ImportFindings run();

private:
  /// Where a module is: in the image, and whether it is a package there.
  struct Module {
    std::string path{};                 ///< below the working directory, without `.py`
    const ContextEntry* file{nullptr};  ///< what is run by importing it; null for a namespace
  };

  void add_root(const std::string& root);
  void visit(const ContextEntry* entry, const std::string& path, bool certain);
  void read_all(bool certain);
  void read(const ContextEntry* entry, const std::string& path, bool certain);
  const ContextEntry* in_image(const std::string& path) const;
  std::optional<Module> find(const std::string& root, const std::string& name) const;
  std::optional<Module> find_anywhere(const std::string& name);
  bool enter(const Module& module, const project::Import& import, std::string_view rest);
  void follow_relative(const project::Import& import, const std::string& path);
  void follow_absolute(const project::Import& import, const std::string& path);
  std::optional<Problem> elsewhere(const project::Import& import,
                                   const std::string& path,
                                   const std::string& name) const;
  std::optional<source::Entry> on_disk(const std::string& root, const std::string& name) const;
  Problem missing(const project::Import& import,
                  const std::string& path,
                  const std::string& name,
                  const source::Entry& there) const;
  void tell_nothing_there(const project::Import& import,
                          const std::string& path,
                          const std::string& wanted);
  void tell_python2(const std::string& path, int line);
  void tell_moved_names(const project::Import& import, const std::string& path);
  void note_open(const project::Import& import, const std::string& path);

  const ReadablePlan& plan_;
  const project::Project& project_;
  Start start_;
  std::vector<std::string> roots_;  ///< sys.path, below the working directory
  bool path_changes_{false};        ///< a file names `sys.path`
  using Waiting = std::deque<std::pair<const ContextEntry*, std::string>>;
  Waiting waiting_;             ///< what the program surely imports
  Waiting perhaps_;             ///< what it may do without
  std::set<std::string> seen_;  ///< read, or waiting to be surely
  std::set<std::string> told_;  ///< modules of the project that are told
  std::optional<std::map<std::string, std::string, std::less<>>> anywhere_{};
  std::map<std::string, OpenImport> open_;
  ImportFindings findings_;
};

/// The walk from all files that Python starts with.
ImportFindings walk_imports(const ReadablePlan& plan, const project::Project& project);

}  // namespace autopack::plan
