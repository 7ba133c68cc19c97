#pragma once

#include "base/error.hpp"
#include "project/code/python_file.hpp"
#include "python/requirement.hpp"
#include "python/specifier.hpp"
#include "source/git.hpp"
#include "source/selection.hpp"
#include "source/tree.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace autopack::project {

class RememberedPython;
struct VersionControl;

/// The sources for the version of a package that takes it from git's tags.
struct VersionSources {
  /// As source::describe_in_git; empty: nothing is known about git.
  std::function<std::optional<source::GitDescription>(const source::GitTagQuery&)> describe{};
  /// Returns a user's variable, those for the build first; nothing if it is unset.
  std::function<std::optional<std::string>(const std::string& name)> variable{};
};

/// The places of settings for messages (`--script`, autopack.yaml:2), by their names in a pool.
using GivenAt = std::map<std::string, std::string, std::less<>>;

/// The settings in pip's variables and configuration files of this machine that change which
/// packages pip installs.
struct UserPip {
  std::vector<std::string> constraints{};  ///< paths and URLs: PIP_CONSTRAINT
  std::vector<std::string> indexes{};      ///< URLs of indexes and of `find-links`
};

/// A line for pip from a notebook: a requirement or an option.
struct NotebookLine {
  std::string text{};
  int cell{0};  ///< 1-based
  int line{0};  ///< 1-based, within the cell
};

/// A notebook whose cells run as a script.
struct Notebook {
  std::string file{};                 ///< relative to the tree
  std::vector<NotebookLine> lines{};  ///< of its `%pip install`
};

/// The user's packaging request, not resolved yet. Field names follow the keys of
/// `--worker-pool-spec`.
struct Request {
  std::filesystem::path directory{"."};     ///< local-package-path
  std::optional<std::string> script{};      ///< exactly one of script, module and command
  std::optional<std::string> module{};      ///< python-module
  std::vector<std::string> requirements{};  ///< requirement specifiers
  std::vector<std::string> extra_packages{};
  std::vector<std::string> extra_dirs{};
  std::vector<std::string> include{};  ///< patterns of files to include, overriding all files of
                                       ///< rules
  std::vector<std::string> exclude{};  ///< patterns of files to exclude
  /// For the directory; null if files come from git, or git does not know it.
  std::shared_ptr<const source::GitWorkTree> git{};
  /// The user's own; excludes entry and dependencies.
  std::optional<std::filesystem::path> dockerfile{};
  std::vector<std::string> command{};  ///< the words of the entry point, without script or module
  std::optional<std::string>
      launcher{};  ///< starts script or module: `torchrun --nproc-per-node=2`
  std::vector<std::string> requirement_files{};  ///< instead of those that are found
  /// Determines the installation, instead of requirement files; `none`: no lock. If no lock is
  /// named, uses one that is found if there are no such files.
  std::optional<std::string> lock{};
  std::vector<std::string> package_extras{};   ///< of the project's own package
  std::vector<std::string> groups{};           ///< of `[dependency-groups]`, or of the lock
  std::shared_ptr<RememberedPython> python{};  ///< from earlier runs; may be null
  VersionSources versions{};
  UserPip pip{};
  std::optional<std::string> python_path{};  ///< PYTHONPATH, if the program's variables set it
  GivenAt given_at{};
  std::optional<Notebook> notebook{};  ///< `script` is made from it

  bool has_entry() const { return script || module || !command.empty(); }
};

enum class EntryKind {
  python_script,
  shell_script,
  module,
  installed_module,  ///< `python -m` of a module in a requirement or the executor image
  program,           ///< found on PATH, or with its own words
};

struct Entry {
  EntryKind kind{EntryKind::python_script};
  std::string value{};  ///< script path relative to the tree, dotted module, or program
  /// The file that runs: `trainer/task.py`, `trainer/__main__.py`; absent if it is not in the tree.
  std::optional<std::string> file{};
  std::vector<std::string> words{};     ///< of a program: name and arguments
  std::vector<std::string> launcher{};  ///< the program that starts it: `torchrun`,
                                        ///< `--nproc-per-node=2`
};

/// A Python program that a shell script or a command starts, as far as its text shows.
struct Started {
  EntryKind kind{EntryKind::python_script};  ///< python_script, module or installed_module
  std::string value{};                       ///< script path relative to the tree, or dotted module
  std::optional<std::string> file{};         ///< as in Entry
  std::string root{};    ///< the first directory of sys.path, relative to the tree
  std::string origin{};  ///< `train.sh:12`
  bool is_child{true};   ///< of a shell, which passes no signals on; false after `exec`
};

/// A file or directory outside the working directory that the user named as an extra.
struct Extra {
  std::string name{};  ///< its base name, unique among the extras
  std::filesystem::path path{};
  bool is_directory{false};
};

/// An index that only the project's own tool uses.
struct NamedIndex {
  std::string url{};    ///< may contain a login
  std::string place{};  ///< `pyproject.toml tool.uv.index`
};

/// An index in `[tool.uv]`.
struct UvIndex {
  std::string name{};  ///< made up if it has none
  std::string url{};
  bool is_explicit{false};  ///< only for packages whose source names it
  bool is_default{false};   ///< in place of pip's
  bool is_flat{false};      ///< a page of links

  bool operator==(const UvIndex&) const = default;
};

/// The settings of `[tool.uv]` about indexes and versions, which pip does not read.
struct UvSettings {
  std::vector<UvIndex> indexes{};
  std::map<std::string, std::string> sources{};  ///< by package (PEP 503): TOML that names an index
  std::string options{};                         ///< lines of TOML: overrides, constraints, ...
  bool chooses_strategy{false};                  ///< they include `index-strategy`
  std::set<std::string> overridden{};  ///< packages (PEP 503) whose requirements are replaced

  bool empty() const { return indexes.empty() && sources.empty() && options.empty(); }
};

/// The user's own package. It is installed from the directory of its code in the image, as with
/// `pip install -e .`; the files that this reads and writes are observed, not guessed.
struct Package {
  std::optional<std::string> name{};  ///< of the distribution, if readable
  std::string backend{};              ///< `setuptools.build_meta`, `flit_core.buildapi`, ...
  std::string import_root{};          ///< "", `src` or the like: the directory of its modules
  std::vector<std::string> files{};   ///< descriptions: pyproject.toml, setup.cfg, setup.py
  bool installs{true};                ///< false: its files only list the program's dependencies
  /// The requirements in `[project]`; absent if only the build backend knows them.
  std::optional<std::vector<python::WrittenRequirement>> requirements{};
  /// By extra, as above.
  std::map<std::string, std::vector<python::WrittenRequirement>> extra_requirements{};
  std::vector<std::string> extras{};  ///< requested by a requirement like `-e .[gpu]`, sorted
  /// Directories of packages to install with it, with extras: `packages/lib[gpu]`.
  std::vector<std::string> members{};
  std::vector<NamedIndex> indexes{};  ///< of its tool
  UvSettings uv{};
  std::map<std::string, Problem> unread{};  ///< UvSources::unread
  /// False: the build sees installed packages, because setup.py imports some that its build
  /// requirements lack.
  bool isolated{true};
  std::optional<std::string> missing_import{};    ///< the first of those modules
  std::vector<std::string> build_requirements{};  ///< for a build without isolation
  bool needs_pyproject{false};  ///< setup.cfg alone: pip requires an empty pyproject.toml beside it
  /// Takes the version from git's tags; may be null.
  std::shared_ptr<const VersionControl> version_control{};
  /// The version for the build, because the image has no repository; absent if the package has a
  /// fixed version.
  std::optional<std::string> version{};
  /// Variables that pass it to the build. If empty although there is a version, a file PKG-INFO
  /// does.
  std::map<std::string, std::string> build_environment{};

  /// Returns true if `distribution` (PEP 503) is its name.
  bool is_called(const std::optional<std::string>& distribution) const;
};

/// The Python versions that the project supports.
struct RequiresPython {
  std::string text{};    ///< as written: `>=3.9,<3.13`, for Poetry `^3.9`
  std::string origin{};  ///< `pyproject.toml: [project] requires-python`
  std::vector<python::SpecifierSet> alternatives{};  ///< one of them must be satisfied

  bool allows(const python::Version& version) const;
};

/// A requirement line to change for the dependency step: removes `-e .` (the package is installed
/// by itself), and the `-e` of `-e ./lib` and `-e git+...`, whose link would dangle.
struct LineEdit {
  std::string file{};  ///< relative to the tree
  int first_line{0};   ///< 1-based
  int last_line{0};
  std::string text{};  ///< the replacement
};

/// A constraints file in pip's settings of this machine.
struct ConstraintFile {
  std::string name{};  ///< as named; pip itself reads a URL
  std::string text{};  ///< empty for a URL
  bool is_url{false};
};

/// A lock that determines the installation.
struct Lock {
  std::string file{};                 ///< relative to the tree
  std::vector<std::string> extras{};  ///< requested extras of the project; PEP 503, sorted
  std::vector<std::string> groups{};  ///< requested groups of dependencies, likewise
  bool is_own{false};  ///< of `autopack lock`: replaces the requirement files that it read

  bool operator==(const Lock&) const = default;
};

/// The packages for conda in an environment file; they are not installed.
struct CondaRequest {
  std::string file{};
  std::vector<std::string> packages{};  ///< by name
};

/// A directory of the tree that a file names.
struct NamedDirectory {
  std::string path{};
  std::string from{};  ///< the file
  int line{0};         ///< 1-based
};

/// A requirement and its place in a requirements file.
struct ListedRequirement {
  python::Requirement requirement{};   ///< a path is relative to the root of the tree
  std::vector<std::string> hashes{};   ///< `sha256:...`
  std::vector<std::string> options{};  ///< names of its other options
  bool editable{false};
  bool constraint{false};
  bool hides_source{false};  ///< its URL has a login or a query, which `requirement` omits
  std::string origin{};      ///< `requirements.txt:3`
};

/// An option of pip on its own line of a requirements file.
struct ListedOption {
  std::string name{};
  std::string value{};  ///< without logins
  std::string origin{};
};

/// Facts found in a tree. Pure data except for the trees, which planning reads further.
struct Project {
  Entry entry{};
  std::vector<Started> started{};          ///< by the entry, if it is a shell script or a command
  std::vector<std::string> python_path{};  ///< directories of the tree on PYTHONPATH
  std::optional<Lock> lock{};  ///< absent if requirement files or flags determine the installation
  std::vector<std::string> requirement_files{};  ///< passed to pip with -r: `requirements.txt`
  /// Every file and directory that those read, including themselves (`-r`, `-c`, wheels, `./dir`,
  /// `--find-links` directories), relative to the tree, sorted.
  std::vector<std::string> requirement_inputs{};
  /// More words for pip that are in no requirements file: `--extra-index-url`, `URL`.
  std::vector<std::string> pip_options{};
  std::vector<ConstraintFile> constraints{};  ///< empty if pip has no choice
  bool hashed{false};  ///< a requirement has `--hash`, so pip requires hashes for all
  /// A URL in a requirement file contains a literal password, not just a `${NAME}`.
  bool has_index_credentials{false};
  std::vector<std::string> index_hosts{};  ///< in all URLs of requirement files, sorted
  std::vector<LineEdit> requirement_edits{};
  std::vector<std::string> environment_variables{};  ///< `${NAME}` in requirement files, sorted
  std::vector<python::WrittenRequirement> requirements{};  ///< from the Request, checked
  std::vector<std::string> extra_packages{};               ///< inside the tree
  std::vector<std::string> extra_dirs{};                   ///< inside the tree, including files
  std::vector<Extra> outside_packages{};
  std::vector<Extra> outside_dirs{};
  std::optional<CondaRequest> conda{};
  std::optional<Package> package{};
  std::optional<std::string> notebook{};            ///< the source of the entry's file
  std::optional<RequiresPython> requires_python{};  ///< also absent if unreadable
  std::optional<RequiresPython> script_python{};    ///< from the `# /// script` block
  std::optional<std::string> script_block{};  ///< the file whose block determines the installation
  /// Normalised requirement lines of all files in reading order, without comments and white space;
  /// for keys and for reporting changes.
  std::vector<std::string> normalised_requirements{};
  /// The same as parts with their places, without the project itself.
  std::vector<ListedRequirement> listed_requirements{};
  std::vector<ListedOption> listed_options{};
  UvSettings uv{};           ///< that apply to the installation
  Problems unread_by_pip{};  ///< warnings for an installation by pip, which does not read `uv`
  source::Selection ignore{};
  /// Directories that are excluded because git ignores them, but that the program names; sorted.
  std::vector<NamedDirectory> ignored_directories{};
  /// Contents of the Python files that the program reaches and the scan read, by path.
  std::map<std::string, PythonFile> python_files{};
  GivenAt given_at{};  ///< from the Request
  Problems warnings{};

  /// Returns where the setting `key` was given, for messages; the key itself if unknown.
  std::string origin_of(const std::string& key) const {
    const auto found = given_at.find(key);
    return found == given_at.end() ? key : found->second;
  }
};

/// Scans `tree` for `request`. Throws all findings at once as Error(project), or Error(usage) for a
/// contradictory request.
Project scan(const source::Tree& tree, const Request& request);

}  // namespace autopack::project
