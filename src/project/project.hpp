#pragma once

#include "base/error.hpp"
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
  std::string script{};                     ///< exactly one of script and module
  std::string module{};                     ///< python-module
  std::vector<std::string> requirements{};  ///< requirement specifiers
  std::vector<std::string> extra_packages{};
  std::vector<std::string> extra_dirs{};
  std::vector<std::string> include{};  ///< patterns of what goes in whatever a file of rules says
  std::vector<std::string> exclude{};  ///< patterns of what does not
  /// Of the directory; null where files come from git, or git does not know it.
  std::shared_ptr<const source::GitWorkTree> git{};
  std::filesystem::path dockerfile{};  ///< the user's own; excludes entry and dependencies
};

enum class EntryKind { python_script, shell_script, module };

struct Entry {
  EntryKind kind{EntryKind::python_script};
  std::string value{};  ///< script path relative to the tree, or the module's dotted name
  std::string file{};   ///< the file that runs: `trainer/task.py`, `trainer/__main__.py`
};

/// A file or directory outside the working directory that the user named as an extra.
struct Extra {
  std::string name{};  ///< its base name, unique among the extras
  std::filesystem::path path{};
  bool is_directory{false};
};

/// How the user's own package becomes importable (see plan::Install).
struct Package {
  std::string name{};     ///< distribution name when it can be read; may be empty
  std::string backend{};  ///< `setuptools.build_meta`, `flit_core.buildapi`, ...
  /// setup.py, pyproject.toml, setup.cfg and what they name; sorted. One may lie in a stub package
  /// (`trainer/__init__.py` that holds the version) and then stands in its stub's place.
  std::vector<std::string> metadata_files{};
  std::vector<std::string> stub_packages{};  ///< directories that must exist for the metadata stage
  /// Directories and modules that are the package, to be copied; `.` alone is the whole tree.
  std::vector<std::string> code{};
  std::string import_root{};        ///< "", `src` or the like: what the `.pth` names below /usr/app
  bool needs_install{false};        ///< a real `pip install --no-deps .` after the code
  std::string reason{};             ///< why, in words, when needs_install
  bool metadata_needs_code{false};  ///< even the metadata can only be computed with `code` there
  std::vector<std::string> extras{};  ///< asked for by a requirement like `-e .[gpu]`, sorted
  bool needs_pyproject{false};  ///< setup.cfg alone: pip wants an empty pyproject.toml beside it
  /// Variables for the build, for a version that would come from version control: the image has
  /// none.
  std::map<std::string, std::string> build_environment{};
};

/// A requirement that pip must read otherwise in the dependency step: `-e .` goes (the package
/// is installed by itself), `-e ./lib` and `-e git+...` lose the `-e`, whose link would dangle.
struct LineEdit {
  std::string file{};  ///< relative to the tree
  int first_line{0};   ///< 1-based
  int last_line{0};
  std::string text{};  ///< what stands there instead; empty: nothing
};

/// Facts found in a tree. Pure data but for the trees, which planning reads further.
struct Project {
  Entry entry{};
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
  std::optional<Package> package{};
  /// Normalised requirement lines of all files in reading order, comments and white space gone; for
  /// keys and for telling what changed.
  std::vector<std::string> normalised_requirements{};
  source::Selection ignore{};
  Problems warnings{};
};

/// Scans `tree` for what `request` asks. All findings at once as Error(project), or Error(usage)
/// for a request that contradicts itself.
Project scan(const source::Tree& tree, const Request& request);

}  // namespace autopack::project
