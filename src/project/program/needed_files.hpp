#pragma once

#include "project/findings.hpp"
#include "project/program/remembered_python.hpp"
#include "project/project.hpp"
#include "source/ignore.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace autopack::project {

/// Follows a program through the files of its project, starting at its entry, and includes files
/// that git ignores and the program imports or names.
class NeededFiles {
public:
  /// `remembered` may be null.
  NeededFiles(Findings& findings, const Project& project, RememberedPython* remembered);

  /// Follows the entry, and the programs that it starts. Warns about large files that stay
  /// excluded, and about files that the program opens and a rule excludes.
  void follow(const Project& project);

  /// Returns whether the program imports or names the directory `path`, or something in it.
  bool names(const std::string& path) const;

  /// Returns the contents of the Python files that were read, by path.
  std::map<std::string, PythonFile> take_python_files() { return std::move(python_files_); }

  /// Returns directories that stay excluded because git ignores them, though the program names
  /// them.
  std::vector<NamedDirectory> ignored_directories() const;

private:
  /// Hashes strings so that a view can be looked up.
  struct TextHash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library asks for it

    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };

  /// A place where a file is named.
  struct Mention {
    std::string path{};  ///< the named file, if known
    std::string from{};  ///< the file that names it
    int line{0};
  };

  void visit(const std::string& path);
  void need(const std::string& path, const Mention& mention, const char* how);
  void need_file(const source::Entry& entry, const Mention& mention);
  void check_hidden(std::string_view text, const Mention& mention);
  void report_hidden(const std::string& path, const Mention& mention);
  void report_environment_file(const Project& project);
  void report_too_large();

  void read(const std::string& path);
  PythonFile read_python(const source::Entry& entry) const;
  void read_words(const std::string& path, std::string_view text);

  void name(std::string_view text, const Mention& mention);
  void take_named(const source::Entry& entry, std::string_view text, const Mention& mention);
  void look_into(const std::string& directory);

  void read_import(const std::string& path, const Import& import);
  void enter(const std::string& root,
             const std::string& module,
             const std::string& path,
             const Import& import);
  bool take(const std::string& at, const std::string& path, const Import& import);

  const std::vector<std::string>& files_in(const std::string& directory);
  bool may_hold(const std::string& directory, const std::string& path);

  Findings* findings_;
  RememberedPython* remembered_;
  source::Selection ignore_;
  std::vector<std::string> roots_;       ///< directories in which imports are searched
  std::set<std::string> python_starts_;  ///< programs for Python, whatever their names
  std::deque<std::string> waiting_;
  std::set<std::string> seen_;
  std::map<std::string, PythonFile> python_files_;
  std::unordered_set<std::string, TextHash, std::equal_to<>> named_;  ///< possible paths
  std::unordered_map<std::string, Mention> words_;                    ///< their last components
  std::deque<std::string> directories_;  ///< named ones, still to be searched
  std::set<std::string> looked_into_;
  std::size_t looked_at_{0};
  std::map<std::string, Mention> ignored_;  ///< directories that git ignores
  std::vector<Mention> too_large_;
  /// Excluded files that the program names, by the text that names them.
  std::unordered_map<std::string, std::set<std::string>, TextHash, std::equal_to<>> hidden_;
  std::set<std::string> reported_hidden_;
  std::optional<Mention> loads_environment_;            ///< where it loads `.env`
  std::unordered_map<std::string, std::string> texts_;  ///< of files that name hidden files
  std::unordered_map<std::string, bool> taken_;  ///< modules; false if one cannot contain another
  std::unordered_map<std::string, std::vector<std::string>> listed_;
};

/// Includes files that git ignores and the program imports or names: generated modules, built
/// extensions, files named in strings of its code, unless they are large. Warns about these, about
/// files that it opens and another rule excludes, and about submodules that it needs and that were
/// not fetched. Records the contents of the Python files that it read.
void keep_what_is_needed(Findings& findings, const Request& request, Project& project);

/// Takes in the files that setup.py opens and only git ignores, and warns of those that another
/// rule leaves out.
void check_files_of_setup(Findings& findings);

}  // namespace autopack::project
