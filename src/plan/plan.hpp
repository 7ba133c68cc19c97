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

/// Choices that are not facts of the project.
struct Options {
  std::string platform{"linux/amd64"};
  std::vector<std::string> system_packages{};
  /// Variables of all installation steps; no secret, as they stay in the image's history.
  std::map<std::string, std::string> build_environment{};
  bool compile_bytecode{false};  ///< packages that become layers bring their byte code
  /// Files here stand in for the embedded ones of their name.
  std::optional<std::filesystem::path> templates{};
  /// False: no file is read, and there are no digests and keys; enough for the text.
  bool contents{true};
  std::map<std::string, std::string> labels{};  ///< of the image, and in its key
  state::FileHashes* hashes{nullptr};           ///< of files read before; null: none remembered
};

/// Context directory of what the user named outside the working directory.
inline constexpr std::string_view extras_directory{".autopack/extras"};

/// Of the context: what a lock chooses, as pip reads it.
inline constexpr std::string_view locked_file{".autopack/requirements.lock.txt"};

/// One file, directory or symbolic link of the build context.
struct ContextEntry {
  std::string path{};                    ///< in the context, `/`-separated
  std::string link_target{};             ///< verbatim; empty unless a symlink
  std::uint64_t size{0};                 ///< bytes; 0 unless a file
  std::optional<ContentHash> content{};  ///< of a file's bytes or a link's target
  source::EntryType type{source::EntryType::file};
  bool executable{false};  ///< the owner's execute bit
  bool cleared{false};     ///< its bytes were looked at, and hold no secret
  std::uint16_t tree{0};   ///< index into ReadablePlan::trees

  /// What it is: `d` a directory, `l` a link, `x` a program, `f` another file.
  char letter() const {
    switch (type) {
      case source::EntryType::directory: return 'd';
      case source::EntryType::symlink: return 'l';
      default: return executable ? 'x' : 'f';
    }
  }
};

/// A tree whose files stand in the context below `prefix`, which is empty or ends with a slash.
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

  /// The same. Throws Error(project), at the end at the latest, when the bytes are not those that
  /// the plan, and so its key, is made of.
  void stream_as_planned(const ContextEntry& entry,
                         const std::function<void(std::string_view bytes)>& take) const;
};

/// `COPY [source, destination]`.
struct Copy {
  std::string source{};       ///< in the context; "" for all of the working directory
  std::string destination{};  ///< below the stage's directory; "" for the directory itself
  bool is_directory{true};

  bool operator==(const Copy&) const = default;
};

/// What is installed before the code comes, and what the installation reads.
struct Dependencies {
  std::vector<std::string> apt_packages{};  ///< python3 and pip when the base has none, the user's
  std::optional<project::Lock> lock{};      ///< in place of requirement files
  std::vector<std::string> requirement_files{};
  std::vector<project::LineEdit> requirement_edits{};
  std::vector<std::string> pip_options{};  ///< project::Project::pip_options
  std::vector<std::string> requirements{};
  std::vector<std::string> packages{};  ///< extra-packages, by path in the requirements stage
  bool hashed{false};
  std::vector<Copy> requirement_copies{};  ///< of the requirements stage

  std::vector<std::string> package_requirements{};  ///< what the project's own package asks for
  std::vector<std::string> build_requirements{};    ///< of a build that is not isolated

  bool install{false};       ///< the project's own package, from where its code stands
  bool installs_root{true};  ///< false: only `members` are installed
  bool isolated{true};       ///< its build sees only what it asks for
  bool resolves{true};  ///< only its build tells what it needs: pip finds that out and installs it
  bool needs_pyproject{false};                ///< pip wants an empty pyproject.toml
  std::optional<std::string> version{};       ///< project::Package::version
  std::vector<std::string> package_extras{};  ///< `gpu` of `-e .[gpu]`
  std::vector<std::string> members{};         ///< project::Package::members
  std::map<std::string, std::string> build_environment{};
  std::map<std::string, std::string> install_environment{};  ///< Options::build_environment
  std::vector<Copy> package_files{};  ///< those that describe the package, for the key

  /// Contents of the requirements stage and the package's files, sorted by path.
  std::vector<ContextEntry> inputs{};

  /// True when something is installed before the code comes.
  bool has_requirements() const {
    return lock || !requirement_files.empty() || !requirements.empty() || !packages.empty() ||
           !package_requirements.empty() || !build_requirements.empty();
  }

  /// True when pip has something to do.
  bool needs_pip() const { return has_requirements() || install; }

  /// True when the build takes the version from a file PKG-INFO.
  bool tells_version_by_file() const { return version && build_environment.empty(); }

  /// True when there is nothing to install.
  bool empty() const { return apt_packages.empty() && !needs_pip(); }
};

/// A directory that stays out for its weight: it holds no code, and nothing names it.
struct Ballast {
  std::string path{};
  std::uint64_t size{0};
  std::size_t files{0};
};

/// What an image is known by; 64 hexadecimal digits each.
struct Keys {
  std::string dependencies{};  ///< over all that the dependency step depends on
  std::string image{};         ///< over that key and all that is copied and run
};

/// Every decision; nothing done yet. Holds no secret, prints as JSON.
struct Plan {
  image::BaseFacts base{};
  project::Entry entry{};
  std::optional<std::string> python{};  ///< `python3` or `python`; none when nothing needs one
  std::vector<std::string> entrypoint{};
  Dependencies dependencies{};
  std::vector<Copy> copies{};
  std::vector<ContextEntry> code{};  ///< contents of the copies, sorted by path
  std::vector<Ballast> ballast{};    ///< of the working directory, sorted by path
  std::string platform{};
  std::string user{};                ///< of the image: the base's
  bool remove_sitecustomize{false};  ///< Vertex prebuilt bases, as gcloud does
  bool compile_bytecode{false};      ///< Options::compile_bytecode, where something is installed
  std::string dockerfile{};          ///< text that is built and printed (BuildKit's dialect)
  std::optional<std::string> user_dockerfile{};  ///< path of the user's own; none when generated
  std::string ignore_text{};                     ///< for `<Dockerfile>.dockerignore`
  std::optional<Keys> keys{};                    ///< none without Options::contents
  std::map<std::string, std::string> labels{};   ///< Options::labels
  Problems warnings{};

  /// True when something is installed or removed below the code.
  bool needs_dependency_image() const { return !dependencies.empty() || remove_sitecustomize; }
};

/// A plan whose files can be read.
struct ReadablePlan : Plan {
  std::vector<PlacedTree> trees{};  ///< [0] is the working directory

  const source::Tree& working_directory() const { return *trees.front().tree; }

  std::string read(const ContextEntry& file) const { return trees.at(file.tree).read(file); }
};

/// Decides everything from facts. Error(project) with all findings: a needed file that is ignored,
/// a base without pip, a name starting with `.wh.`, a FIFO.
ReadablePlan make_plan(std::shared_ptr<const source::Tree> tree,
                       const project::Project& project,
                       const project::Request& request,
                       const image::BaseFacts& base,
                       const Options& options);

/// The Plan as one JSON object with sorted keys and two spaces of indentation, a line feed at the
/// end.
std::string to_json(const Plan& plan);

/// Inputs and code together: what the builder must be sent, sorted by path, each path once.
std::vector<const ContextEntry*> context(const Plan& plan);

/// A dialect of the Dockerfile.
struct Dialect {
  bool buildkit{true};
  /// What stands after FROM instead of the base as written: a digest reference. None: as written.
  std::optional<std::string> base{};
  /// Context directory that holds this build's pip settings (see project::pip_settings_directory).
  std::optional<std::string> pip_settings{};
  /// Context directory below which the files of the working directory stand, so that a copy of all
  /// of it takes neither the Dockerfile nor the settings along. "" for the context's root.
  std::string root{};
  /// Context directory of the observer: the project's package is installed under observation, in a
  /// stage of its own. None: as a person would, after the code.
  std::optional<std::string> observer{};
  /// The dependency image, which only lacks the code; none: it is part of the build.
  std::optional<std::string> parent{};
};

/// Where `entry` stands in a context whose working directory is at `root` (see Dialect::root).
std::string context_path(const ContextEntry& entry, std::string_view root);

/// The Dockerfile for `plan`, byte for byte stable; the user's own as it is.
std::string render_dockerfile(const Plan& plan, const Dialect& dialect, const Options& options);

/// A wheel that is to be built from a source.
struct WheelBuild {
  const image::BaseFacts& base;
  std::string python{};
  std::string source{};    ///< a file of the context
  bool is_archive{false};  ///< that pip reads; else it is a tar of what stands in a directory
  std::string name{};      ///< what pip is given, below that directory
  std::optional<std::string> options{};  ///< a requirements file of the context with options
  std::map<std::string, std::string> environment{};
};

/// The Dockerfile of an image that holds nothing but the wheel, in `/wheels`.
std::string render_wheel_build(const WheelBuild& build, const Dialect& dialect);

/// The base facts recorded in a generated Dockerfile; none when it holds no such line.
std::optional<image::BaseFacts> recorded_facts(std::string_view dockerfile);

}  // namespace autopack::plan
