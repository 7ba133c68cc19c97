#pragma once

#include "base/error.hpp"
#include "project/python_file.hpp"
#include "project/requirement.hpp"
#include "python/specifier.hpp"
#include "source/git.hpp"
#include "source/selection.hpp"
#include "source/tree.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

class RememberedPython;
struct VersionControl;

/// What tells the version of a package that takes it from git's tags.
struct VersionSources {
  /// As source::describe_in_git; empty: nothing is known of git.
  std::function<std::optional<source::GitDescription>(const source::GitTagQuery&)> describe{};
  /// The user's variables, those for the build first; none when one is unset.
  std::function<std::optional<std::string>(const std::string& name)> variable{};
};

/// Where settings were given, in words (`--script`, autopack.yaml:2), by their names in a
/// pool.
using GivenAt = std::map<std::string, std::string, std::less<>>;

/// What pip's variables and configuration files of this machine say, as far as it changes what is
/// installed.
struct UserPip {
  std::vector<std::string> constraints{};  ///< paths and URLs: PIP_CONSTRAINT
  std::vector<std::string> indexes{};      ///< URLs of indexes and of `find-links`
};

/// What the user asked to package; nothing resolved yet. Field names follow the keys of
/// `--worker-pool-spec`.
struct Request {
  std::filesystem::path directory{"."};     ///< local-package-path
  std::optional<std::string> script{};      ///< exactly one of script, module and command
  std::optional<std::string> module{};      ///< python-module
  std::vector<std::string> requirements{};  ///< requirement specifiers
  std::vector<std::string> extra_packages{};
  std::vector<std::string> extra_dirs{};
  std::vector<std::string> include{};  ///< patterns of what goes in whatever a file of rules says
  std::vector<std::string> exclude{};  ///< patterns of what does not
  /// Of the directory; null where files come from git, or git does not know it.
  std::shared_ptr<const source::GitWorkTree> git{};
  /// The user's own; excludes entry and dependencies.
  std::optional<std::filesystem::path> dockerfile{};
  std::vector<std::string> command{};  ///< the words of the entry point, with no script or module
  std::optional<std::string>
      launcher{};  ///< starts script or module: `torchrun --nproc-per-node=2`
  std::vector<std::string> requirement_files{};  ///< instead of those that are found
  /// Says what is installed, instead of requirement files; `none`: no lock does. Where none is
  /// named, one that is found does, if there are no such files.
  std::optional<std::string> lock{};
  std::vector<std::string> package_extras{};   ///< of the project's own package
  std::vector<std::string> groups{};           ///< of `[dependency-groups]`, or of the lock
  std::shared_ptr<RememberedPython> python{};  ///< of earlier runs; null: none
  VersionSources versions{};
  UserPip pip{};
  GivenAt given_at{};

  bool has_entry() const { return script || module || !command.empty(); }
};

enum class EntryKind {
  python_script,
  shell_script,
  module,
  installed_module,  ///< `python -m` of what a requirement or the executor image brings
  program,           ///< found on PATH, or with words of its own
};

struct Entry {
  EntryKind kind{EntryKind::python_script};
  std::string value{};  ///< script path relative to the tree, dotted module, or program
  /// The file that runs: `trainer/task.py`, `trainer/__main__.py`; none when it is not in the tree.
  std::optional<std::string> file{};
  std::vector<std::string> words{};     ///< of a program: itself and its arguments
  std::vector<std::string> launcher{};  ///< what starts it: `torchrun`, `--nproc-per-node=2`
};

/// A Python program that a shell script or a command starts, as far as its text tells.
struct Started {
  EntryKind kind{EntryKind::python_script};  ///< python_script, module or installed_module
  std::string value{};                       ///< script path relative to the tree, or dotted module
  std::optional<std::string> file{};         ///< as of an Entry
  std::string root{};    ///< directory, relative to the tree, that comes first in sys.path
  std::string origin{};  ///< `train.sh:12`
};

/// A file or directory outside the working directory that the user named as an extra.
struct Extra {
  std::string name{};  ///< its base name, unique among the extras
  std::filesystem::path path{};
  bool is_directory{false};
};

/// An index that only the project's own tool asks.
struct NamedIndex {
  std::string url{};    ///< may hold a login
  std::string place{};  ///< `pyproject.toml tool.uv.index`
};

/// The user's own package. It is installed from where its code stands in the image, as with
/// `pip install -e .`; what that reads and writes is observed, not guessed.
struct Package {
  std::optional<std::string> name{};  ///< of the distribution, when it can be read
  std::string backend{};              ///< `setuptools.build_meta`, `flit_core.buildapi`, ...
  std::string import_root{};          ///< "", `src` or the like: where its modules are
  std::vector<std::string>
      files{};          ///< those that describe it: pyproject.toml, setup.cfg, setup.py
  bool installs{true};  ///< false: its files only list what the program needs
  /// What `[project]` says that it needs; none when only the build backend knows.
  std::optional<std::vector<std::string>> requirements{};
  std::map<std::string, std::vector<std::string>> extra_requirements{};  ///< by extra, as above
  std::vector<std::string> extras{};  ///< asked for by a requirement like `-e .[gpu]`, sorted
  /// Directories of packages that are installed along, with extras: `packages/lib[gpu]`.
  std::vector<std::string> members{};
  std::vector<NamedIndex> indexes{};  ///< of its tool, which pip does not read
  Problems unread{};                  ///< warnings of other things that only its tool reads
  /// False: the build sees what is installed. setup.py imports what its build requirements lack.
  bool isolated{true};
  std::vector<std::string> build_requirements{};  ///< of the build, when it is not isolated
  bool needs_pyproject{false};  ///< setup.cfg alone: pip wants an empty pyproject.toml beside it
  /// Takes the version from git's tags; null: none does.
  std::shared_ptr<const VersionControl> version_control{};
  /// What the build is told, because the image has no repository; none when it says the version
  /// itself.
  std::optional<std::string> version{};
  /// Variables that tell it to the build. None though there is a version: a file PKG-INFO does.
  std::map<std::string, std::string> build_environment{};

  /// True when `distribution` (PEP 503) is its name.
  bool is_called(const std::optional<std::string>& distribution) const;
};

/// Versions of Python that the project says it runs with.
struct RequiresPython {
  std::string text{};    ///< as written: `>=3.9,<3.13`, of Poetry `^3.9`
  std::string origin{};  ///< `pyproject.toml: [project] requires-python`
  std::vector<python::SpecifierSet> alternatives{};  ///< one of them must hold

  bool allows(const python::Version& version) const;
};

/// A requirement that pip must read otherwise in the dependency step: `-e .` goes (the package
/// is installed by itself), `-e ./lib` and `-e git+...` lose the `-e`, whose link would dangle.
struct LineEdit {
  std::string file{};  ///< relative to the tree
  int first_line{0};   ///< 1-based
  int last_line{0};
  std::string text{};  ///< what stands there instead
};

/// A file of constraints that pip's settings of this machine name.
struct ConstraintFile {
  std::string name{};  ///< as it is named, a URL too, which pip reads by itself
  std::string text{};  ///< empty for a URL
  bool is_url{false};
};

/// A lock that chooses what is installed.
struct Lock {
  std::string file{};                 ///< relative to the tree
  std::vector<std::string> extras{};  ///< of the project that are asked for; PEP 503, sorted
  std::vector<std::string> groups{};  ///< the same of dependencies

  bool operator==(const Lock&) const = default;
};

/// What a conda environment file asks conda for; nobody installs it.
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

/// Facts found in a tree. Pure data but for the trees, which planning reads further.
struct Project {
  Entry entry{};
  std::vector<Started> started{};  ///< by the entry, when that is a shell script or a command
  std::vector<std::string> python_path{};  ///< what shell scripts put on PYTHONPATH; of the tree
  std::optional<Lock> lock{};              ///< none where requirement files or flags say it all
  std::vector<std::string> requirement_files{};  ///< passed to pip with -r: `requirements.txt`
  /// Every file and directory those read, themselves included (`-r`, `-c`, wheels, `./dir`,
  /// `--find-links` directories), relative to the tree, sorted.
  std::vector<std::string> requirement_inputs{};
  /// More words for pip, which stand in no requirement file: `--extra-index-url`, `URL`.
  std::vector<std::string> pip_options{};
  std::vector<ConstraintFile> constraints{};  ///< empty where pip has nothing to choose
  bool hashed{false};  ///< a requirement carries `--hash`, so pip takes hashed ones only
  /// A URL in a requirement file holds a password as text; one that is only a `${NAME}` does not
  /// count.
  bool has_index_credentials{false};
  std::vector<std::string> index_hosts{};  ///< of all URLs in requirement files, sorted
  std::vector<LineEdit> requirement_edits{};
  std::vector<std::string>
      environment_variables{};                ///< `${NAME}` named by requirement files, sorted
  std::vector<std::string> requirements{};    ///< of the Request, checked
  std::vector<std::string> extra_packages{};  ///< inside the tree
  std::vector<std::string> extra_dirs{};      ///< inside the tree, files too
  std::vector<Extra> outside_packages{};
  std::vector<Extra> outside_dirs{};
  std::optional<CondaRequest> conda{};
  std::optional<Package> package{};
  std::optional<RequiresPython> requires_python{};  ///< none too when it cannot be read
  std::optional<RequiresPython> script_python{};    ///< what the `# /// script` block says
  /// Normalised requirement lines of all files in reading order, comments and white space gone; for
  /// keys and for telling what changed.
  std::vector<std::string> normalised_requirements{};
  /// The same as parts with their places; the project itself is not among them.
  std::vector<ListedRequirement> listed_requirements{};
  std::vector<ListedOption> listed_options{};
  source::Selection ignore{};
  /// Directories that git ignores, so that they stay out, and that the program names; sorted.
  std::vector<NamedDirectory> ignored_directories{};
  /// What Python files that the program reaches say, by path; those that the scan read.
  std::map<std::string, PythonFile> python_files{};
  GivenAt given_at{};  ///< of the Request
  Problems warnings{};

  /// Where the setting `key` was given, for messages; the key itself when that is not known.
  std::string origin_of(const std::string& key) const {
    const auto found = given_at.find(key);
    return found == given_at.end() ? key : found->second;
  }
};

/// Scans `tree` for what `request` asks. All findings at once as Error(project), or Error(usage)
/// for a request that contradicts itself.
Project scan(const source::Tree& tree, const Request& request);

}  // namespace autopack::project
