#pragma once

#include "base/digest.hpp"
#include "image/facts.hpp"
#include "project/project.hpp"
#include "source/tree.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace autopack::plan {

/// Choices that are not facts of the project.
struct Options {
  std::string platform{"linux/amd64"};
  std::vector<std::string> system_packages{};
  std::filesystem::path templates{};  ///< overrides the embedded ones when not empty
};

/// One file, directory or symbolic link of the build context.
struct ContextEntry {
  std::string path{};          ///< in the context, `/`-separated
  source::Entry entry{};       ///< `entry.path` is relative to `tree`
  std::size_t tree{0};         ///< index into Plan::trees
  Digest content{sha256("")};  ///< of a file's bytes or a link's target
};

/// `COPY [source, destination]` of the code step.
struct Copy {
  std::string source{};       ///< in the context
  std::string destination{};  ///< below /usr/app; `./` for the whole directory
  bool is_directory{true};
};

enum class Install {
  none,      ///< no setup.py, pyproject.toml or setup.cfg
  metadata,  ///< dist-info, scripts and a `.pth` in the dependency step; packages travel as code
  real,      ///< `pip install --no-deps .` after the code
};

struct Dependencies {
  bool install_python{false};  ///< python3 and pip by apt: the base has none
  std::vector<std::string> system_packages{};
  std::vector<std::string> requirement_files{};
  std::vector<std::string> requirements{};
  std::vector<std::string> packages{};  ///< extra-packages, by context path
  bool hashed{false};
  Install install{Install::none};
  std::string install_reason{};  ///< why real, in words
  std::string import_path{};     ///< what the `.pth` names: `/usr/app` or `/usr/app/src`
  std::vector<std::string> metadata_files{};
  std::vector<std::string> stub_packages{};
  /// Contents of the requirements stage and of the metadata stage, sorted by path.
  std::vector<ContextEntry> inputs{};

  /// True when the step does nothing but make the directories.
  bool empty() const {
    return !install_python && system_packages.empty() && requirement_files.empty() &&
           requirements.empty() && packages.empty() && install == Install::none;
  }
};

/// Every decision; nothing done yet. Holds no secret, prints as JSON.
struct Plan {
  image::BaseFacts base{};
  project::Entry entry{};
  std::vector<std::string> entrypoint{};
  Dependencies dependencies{};
  std::vector<Copy> copies{};
  std::vector<ContextEntry> code{};  ///< contents of the copies, sorted by path
  std::string platform{};
  std::string user{};                ///< of the image: the base's
  bool remove_sitecustomize{false};  ///< Vertex prebuilt bases, as gcloud does
  std::string dockerfile{};          ///< text that is built and printed (BuildKit's dialect)
  std::string user_dockerfile{};     ///< path of the user's own; empty when generated
  std::string ignore_text{};         ///< for `<Dockerfile>.dockerignore`
  std::string dependency_key{};      ///< 64 hexadecimal digits
  std::string image_key{};           ///< 64 hexadecimal digits
  Problems warnings{};
  /// Not part of the data: where contents are read from. [0] is the working directory.
  std::vector<std::shared_ptr<const source::Tree>> trees{};
};

/// Decides everything from facts. Error(project) with all findings: a needed file that is ignored,
/// a base without pip, a name starting with `.wh.`, a FIFO.
Plan make_plan(std::shared_ptr<const source::Tree> tree,
               const project::Project& project,
               const project::Request& request,
               const image::BaseFacts& base,
               const Options& options);

/// The Plan as one JSON object with sorted keys and two spaces of indentation, a line feed at the
/// end.
std::string to_json(const Plan& plan);

/// A dialect of the Dockerfile.
struct Dialect {
  bool buildkit{true};
  /// What stands after FROM instead of the base as written: a digest reference. Empty: as written.
  std::string base{};
  std::string network{};  ///< not in the text today; kept by the engine request
  /// Context directory that holds pip.conf, netrc and certificates for this build; empty: none.
  std::string pip_settings{};
};

/// The Dockerfile for `plan`, byte for byte stable.
std::string render_dockerfile(const Plan& plan, const Dialect& dialect, const Options& options);

/// The base facts recorded in a generated Dockerfile; none when it holds no such line.
std::optional<image::BaseFacts> recorded_facts(std::string_view dockerfile);

}  // namespace autopack::plan
