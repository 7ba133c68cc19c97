#pragma once

#include "base/error.hpp"
#include "project/python_file.hpp"
#include "python/specifier.hpp"
#include "source/selection.hpp"
#include "source/tree.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace autopack::project {

/// What the user asked to package; nothing resolved yet. Field names follow the keys of
/// `--worker-pool-spec`.
struct Request {
  std::filesystem::path directory{"."};     ///< local-package-path
  std::string script{};                     ///< exactly one of script, module and command
  std::string module{};                     ///< python-module
  std::vector<std::string> requirements{};  ///< requirement specifiers
  std::vector<std::string> extra_packages{};
  std::vector<std::string> extra_dirs{};
  std::vector<std::string> include{};  ///< patterns of what goes in whatever a file of rules says
  std::vector<std::string> exclude{};  ///< patterns of what does not
  /// Of the directory; null where files come from git, or git does not know it.
  std::shared_ptr<const source::GitWorkTree> git{};
  std::filesystem::path dockerfile{};  ///< the user's own; excludes entry and dependencies
  std::vector<std::string> command{};  ///< the words of the entry point, with no script or module
  std::string launcher{};              ///< starts script or module: `torchrun --nproc-per-node=2`
  std::vector<std::string> requirement_files{};  ///< instead of those that are found
  std::vector<std::string> package_extras{};     ///< of the project's own package
  std::vector<std::string> groups{};             ///< of `[dependency-groups]`
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
  /// The file that runs: `trainer/task.py`, `trainer/__main__.py`; empty when it is not in the
  /// tree.
  std::string file{};
  std::vector<std::string> words{};     ///< of a program: itself and its arguments
  std::vector<std::string> launcher{};  ///< what starts it: `torchrun`, `--nproc-per-node=2`
};

/// A Python program that a shell script or a command starts, as far as its text tells.
struct Started {
  EntryKind kind{EntryKind::python_script};  ///< python_script, module or installed_module
  std::string value{};                       ///< script path relative to the tree, or dotted module
  std::string file{};                        ///< as of an Entry; empty when it is not in the tree
  std::string root{};    ///< directory, relative to the tree, that comes first in sys.path
  std::string origin{};  ///< `train.sh:12`
};

/// A file or directory outside the working directory that the user named as an extra.
struct Extra {
  std::string name{};  ///< its base name, unique among the extras
  std::filesystem::path path{};
  bool is_directory{false};
};

/// The user's own package. It is installed from where its code stands in the image, as with
/// `pip install -e .`; what that reads and writes is observed, not guessed.
struct Package {
  std::string name{};         ///< distribution name when it can be read; may be empty
  std::string backend{};      ///< `setuptools.build_meta`, `flit_core.buildapi`, ...
  std::string import_root{};  ///< "", `src` or the like: where its modules are
  std::vector<std::string>
      files{};          ///< those that describe it: pyproject.toml, setup.cfg, setup.py
  bool installs{true};  ///< false: its files only list what the program needs
  /// What `[project]` says that it needs; none when only the build backend knows.
  std::optional<std::vector<std::string>> requirements{};
  std::map<std::string, std::vector<std::string>> extra_requirements{};  ///< by extra, as above
  std::vector<std::string> extras{};   ///< asked for by a requirement like `-e .[gpu]`, sorted
  std::vector<std::string> members{};  ///< directories of packages that are installed along
  /// False: the build sees what is installed. setup.py imports what its build requirements lack.
  bool isolated{true};
  std::vector<std::string> build_requirements{};  ///< of the build, when it is not isolated
  bool needs_pyproject{false};  ///< setup.cfg alone: pip wants an empty pyproject.toml beside it
  /// Variables for the build, for a version that would come from version control: the image has
  /// none.
  std::map<std::string, std::string> build_environment{};
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
  std::string text{};  ///< what stands there instead; empty: nothing
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
  std::vector<std::string> requirement_files{};  ///< passed to pip with -r: `requirements.txt`
  /// Every file and directory those read, themselves included (`-r`, `-c`, wheels, `./dir`,
  /// `--find-links` directories), relative to the tree, sorted.
  std::vector<std::string> requirement_inputs{};
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
  CondaRequest conda{};
  std::optional<Package> package{};
  std::optional<RequiresPython> requires_python{};  ///< none too when it cannot be read
  /// Normalised requirement lines of all files in reading order, comments and white space gone; for
  /// keys and for telling what changed.
  std::vector<std::string> normalised_requirements{};
  source::Selection ignore{};
  /// Directories that git ignores, so that they stay out, and that the program names; sorted.
  std::vector<NamedDirectory> ignored_directories{};
  /// What Python files that the program reaches say, by path; those that the scan read.
  std::map<std::string, PythonFile> python_files{};
  Problems warnings{};
};

/// Scans `tree` for what `request` asks. All findings at once as Error(project), or Error(usage)
/// for a request that contradicts itself.
Project scan(const source::Tree& tree, const Request& request);

}  // namespace autopack::project
