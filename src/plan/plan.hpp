#pragma once

#include "base/content_hash.hpp"
#include "base/digest.hpp"
#include "image/facts.hpp"
#include "project/project.hpp"
#include "source/tree.hpp"
#include "state/file_hashes.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::plan {

/// Options that are not facts of the project.
struct Options {
  std::string platform{"linux/amd64"};
  std::vector<std::string> system_packages{};
  /// Variables of all installation steps; must not be secret, because the image's history contains
  /// them.
  std::map<std::string, std::string> build_environment{};
  bool compile_bytecode{false};  ///< layers of packages contain byte code
  /// Files in this directory replace the embedded ones with the same name.
  std::optional<std::filesystem::path> templates{};
  /// False: reads no files, and computes no digests and keys; enough for the text.
  bool contents{true};
  std::map<std::string, std::string> labels{};  ///< of the image, and in its key
  state::FileHashes* hashes{nullptr};           ///< cached ones; may be null
};

/// Context directory of paths that the user named outside the working directory.
inline constexpr std::string_view extras_directory{".autopack/extras"};

/// Context path of a lock's selection, in pip's format.
inline constexpr std::string_view locked_file{".autopack/requirements.lock.txt"};

/// A file, directory or symbolic link of the build context.
struct ContextEntry {
  std::string path{};                    ///< in the context, `/`-separated
  std::string link_target{};             ///< verbatim; empty unless a symlink
  std::uint64_t size{0};                 ///< bytes; 0 unless a file
  std::optional<ContentHash> content{};  ///< of a file's bytes or a link's target
  source::EntryType type{source::EntryType::file};
  bool executable{false};  ///< the owner's execute bit
  bool cleared{false};     ///< its bytes were searched, and contain no secret
  std::uint16_t tree{0};   ///< index into ReadablePlan::trees

  /// Returns the kind: `d` a directory, `l` a link, `x` a program, `f` another file.
  char letter() const {
    switch (type) {
      case source::EntryType::directory: return 'd';
      case source::EntryType::symlink: return 'l';
      default: return executable ? 'x' : 'f';
    }
  }
};

/// A tree whose files are in the context below `prefix`, which is empty or ends with a slash.
struct PlacedTree {
  std::shared_ptr<const source::Tree> tree{};
  std::string prefix{};

  std::string_view path_of(const ContextEntry& entry) const {
    return std::string_view{entry.path}.substr(prefix.size());
  }

  std::string read(const ContextEntry& entry) const { return tree->read(path_of(entry)); }

  /// As source::Tree::stream.
  void stream(const ContextEntry& entry,
              const std::function<void(std::string_view bytes)>& take) const {
    tree->stream(path_of(entry), take);
  }

  /// The same. Throws Error(project), at the latest at the end, if the bytes differ from those in
  /// the plan, and so in its key.
  void stream_as_planned(const ContextEntry& entry,
                         const std::function<void(std::string_view bytes)>& take) const;
};

/// A `COPY [source, destination]`.
struct Copy {
  std::string source{};       ///< in the context; "" for the whole working directory
  std::string destination{};  ///< below the stage's directory; "" for the directory itself
  bool is_directory{true};

  bool operator==(const Copy&) const = default;
};

/// Everything to install before the code is copied, and the inputs of the installation.
struct Dependencies {
  std::vector<std::string> apt_packages{};  ///< python3 and pip if the base has none, and the
                                            ///< user's
  std::optional<project::Lock> lock{};      ///< instead of requirement files
  std::vector<std::string> requirement_files{};
  std::vector<project::LineEdit> requirement_edits{};
  std::vector<std::string> pip_options{};  ///< project::Project::pip_options
  std::vector<std::string> requirements{};
  std::vector<std::string> packages{};  ///< extra-packages, by path in the requirements stage
  bool hashed{false};
  std::vector<Copy> requirement_copies{};  ///< of the requirements stage

  std::vector<std::string> package_requirements{};  ///< requirements of the project's own package
  std::vector<std::string> build_requirements{};    ///< for a build without isolation
  project::UvSettings uv{};                         ///< project::Project::uv

  bool install{false};       ///< installs the project's own package from the directory of its code
  bool installs_root{true};  ///< false: only `members` are installed
  bool isolated{true};       ///< its build sees only its build requirements
  bool resolves{true};  ///< only its build determines its requirements: pip resolves and installs
                        ///< them
  bool needs_pyproject{false};                ///< pip requires an empty pyproject.toml
  std::optional<std::string> version{};       ///< project::Package::version
  std::vector<std::string> package_extras{};  ///< `gpu` of `-e .[gpu]`
  std::vector<std::string> members{};         ///< project::Package::members
  std::map<std::string, std::string> build_environment{};
  std::map<std::string, std::string> install_environment{};  ///< Options::build_environment
  std::vector<Copy> package_files{};  ///< files that describe the package, for the key

  /// Contents of the requirements stage and the package's files, sorted by path.
  std::vector<ContextEntry> inputs{};

  /// Returns true if something is installed before the code is copied.
  bool has_requirements() const {
    return lock || !requirement_files.empty() || !requirements.empty() || !packages.empty() ||
           !package_requirements.empty() || !build_requirements.empty();
  }

  /// Returns true if pip is needed.
  bool needs_pip() const { return has_requirements() || install; }

  /// Returns true if the build reads the version from a file PKG-INFO.
  bool writes_version_file() const { return version && build_environment.empty(); }

  /// Returns true if there is nothing to install.
  bool empty() const { return apt_packages.empty() && !needs_pip(); }
};

/// A directory that is excluded for its size: it contains no code, and nothing names it.
struct LargeDirectory {
  std::string path{};
  std::uint64_t size{0};
  std::size_t files{0};
};

/// The identity of an image; 64 hexadecimal digits each.
struct Keys {
  std::string dependencies{};  ///< over all inputs of the dependency step
  std::string image{};         ///< over that key and everything that is copied and run
};

/// Every decision, before anything is done. Contains no secret, prints as JSON.
struct Plan {
  image::BaseFacts base{};
  project::Entry entry{};
  std::optional<std::string> notebook{};  ///< the source of the entry's file
  std::optional<std::string> python{};    ///< `python3` or `python`; absent if nothing needs one
  std::vector<std::string> entrypoint{};
  Dependencies dependencies{};
  std::vector<Copy> copies{};
  std::vector<ContextEntry> code{};                 ///< contents of the copies, sorted by path
  std::vector<LargeDirectory> large_directories{};  ///< of the working directory, sorted by path
  std::string platform{};
  std::string user{};                ///< of the image: the base's
  bool remove_sitecustomize{false};  ///< Vertex prebuilt bases, as gcloud does
  bool compile_bytecode{false};      ///< Options::compile_bytecode, if something is installed
  std::string dockerfile{};          ///< the built and printed text (BuildKit's dialect)
  std::optional<std::string> user_dockerfile{};  ///< path of the user's own; absent if generated
  std::string ignore_text{};                     ///< for `<Dockerfile>.dockerignore`
  std::optional<Keys> keys{};                    ///< absent without Options::contents
  std::map<std::string, std::string> labels{};   ///< Options::labels
  Problems warnings{};

  /// Returns true if something is installed or removed below the code.
  bool needs_dependency_image() const { return !dependencies.empty() || remove_sitecustomize; }
};

/// A plan whose files can be read.
struct ReadablePlan : Plan {
  std::vector<PlacedTree> trees{};  ///< [0] is the working directory

  const source::Tree& working_directory() const { return *trees.front().tree; }

  std::string read(const ContextEntry& file) const { return trees.at(file.tree).read(file); }
};

/// Decides everything from facts. Throws Error(project) with all findings: an ignored file that is
/// needed, a base without pip, a name starting with `.wh.`, a FIFO.
ReadablePlan make_plan(std::shared_ptr<const source::Tree> tree,
                       const project::Project& project,
                       const project::Request& request,
                       const image::BaseFacts& base,
                       const Options& options);

/// Returns the Plan as one JSON object with sorted keys and two spaces of indentation, and a line
/// feed at the end.
std::string to_json(const Plan& plan);

/// Returns inputs and code together: the files to send to the builder, sorted by path, without
/// duplicates.
std::vector<const ContextEntry*> context(const Plan& plan);

/// A dialect of the Dockerfile.
struct Dialect {
  bool buildkit{true};
  /// The text after FROM instead of the base as written: a digest reference. Absent: as written.
  std::optional<std::string> base{};
  /// Context directory of this build's pip settings (see project::pip_settings_directory).
  std::optional<std::string> pip_settings{};
  /// Context directory of the working directory's files, so that a copy of all of it includes
  /// neither the Dockerfile nor the settings. "" for the context's root.
  std::string root{};
  /// Context directory of the observer: the project's package is installed under observation, in
  /// its own stage. Absent: as a person would, after the code.
  std::optional<std::string> observer{};
  /// The dependency image, which only lacks the code; absent: it is part of the build.
  std::optional<std::string> parent{};
};

/// Returns the path of `entry` in a context whose working directory is at `root` (see
/// Dialect::root).
std::string context_path(const ContextEntry& entry, std::string_view root);

/// Returns the Dockerfile for `plan`, byte for byte stable; the user's own unchanged.
std::string render_dockerfile(const Plan& plan, const Dialect& dialect, const Options& options);

/// A wheel to build from a source.
struct WheelBuild {
  const image::BaseFacts& base;
  std::string python{};
  std::string source{};    ///< a file of the context
  bool is_archive{false};  ///< an archive for pip; else a tar of a directory's contents
  std::string name{};      ///< the name for pip, below that directory
  std::optional<std::string> options{};  ///< a requirements file of the context with options
  std::map<std::string, std::string> environment{};
};

/// Returns the Dockerfile of an image that contains only the wheel, in `/wheels`.
std::string render_wheel_build(const WheelBuild& build, const Dialect& dialect);

/// Returns the base facts recorded in a generated Dockerfile; nothing if it has no such line.
std::optional<image::BaseFacts> recorded_facts(std::string_view dockerfile);

}  // namespace autopack::plan
