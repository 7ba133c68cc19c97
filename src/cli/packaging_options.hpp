#pragma once

#include "cli/flags.hpp"
#include "job/flags.hpp"
#include "job/location.hpp"
#include "packaging/image_name.hpp"
#include "packaging/request.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The flags that say how an image is made; every command that packages has them.
struct BuildOptions {
  std::string engine{"auto"};
  std::string source{"worktree"};
  std::optional<std::string> dockerfile{};
  std::optional<std::string> templates{};
  std::string platform{"linux/amd64"};
  std::optional<std::string> build_network{};
  bool no_cache{false};
  bool strict{false};
  bool compile_bytecode{false};
  std::optional<std::string> max_dependency_age{};
  std::vector<std::string> outputs{};
  bool label_git{false};
  bool no_infer{false};
  bool pin{false};
};

/// The flags that say what goes in; `submit` takes the same as keys of `--worker-pool-spec`.
struct PackagingOptions {
  std::optional<std::string> executor_image{};
  std::string local_package_path{"."};
  std::optional<std::string> script{};
  std::optional<std::string> python_module{};
  job::FlagValues command{};
  std::optional<std::string> launcher{};
  job::FlagValues requirements{};
  job::FlagValues requirement_files{};
  std::optional<std::string> lock{};
  job::FlagValues package_extras{};
  job::FlagValues groups{};
  job::FlagValues build_environment{};
  job::FlagValues extra_packages{};
  job::FlagValues extra_dirs{};
  job::FlagValues include{};
  job::FlagValues exclude{};
  job::FlagValues system_packages{};
  std::optional<std::string> output_image{};
  std::optional<std::string> display_name{};

  bool has_entry() const { return script || python_module || !command.empty(); }
};

void add_build_flags(FlagSet& flags, BuildOptions& options);
/// `--output`, of the commands whose image goes somewhere.
void add_output_flag(FlagSet& flags, BuildOptions& options);
void add_packaging_flags(FlagSet& flags, PackagingOptions& options);

/// Throws Error(usage) for values that autopack cannot act on, but for those of `--platform`.
void check_build_options(const BuildOptions& options);

/// The platforms of `--platform`, which may be given more than once, or a list: each once, in the
/// order given. Throws Error(usage) for what is the platform of no image.
std::vector<std::string> platforms_of(const FlagSet& flags, const BuildOptions& options);

/// As check_build_options, for a command that makes one image: throws Error(usage) for a second
/// `--platform`, too, and for one that is the platform of no image.
void check_build_options(const BuildOptions& options, const FlagSet& flags);

/// Throws Error(usage) when there is no image to start from, no Dockerfile that names one, and
/// nothing may be inferred.
void require_executor(const PackagingOptions& packaging, const BuildOptions& build);

/// What the flags ask to package; lists split at `,` (or `^D^`). `flags` tell where each was given.
packaging::Request package_request(const PackagingOptions& packaging,
                                   const BuildOptions& build,
                                   const FlagSet& flags,
                                   const Environment& environment);
/// What a pool asks to package; `command` is its entry point when it names none.
packaging::Request package_request(const job::PoolFlags& pool,
                                   const std::optional<std::vector<std::string>>& command,
                                   const BuildOptions& build,
                                   const Environment& environment);

/// The name of the image: the user's, or one made from the job's or the project directory's name.
packaging::ImageName image_name(const PackagingOptions& packaging,
                                const packaging::Request& request,
                                const job::Location& location);

/// `~` and `~/x` as the home directory says.
std::string expand_home(const std::string& path, const Environment& environment);

}  // namespace autopack::cli
