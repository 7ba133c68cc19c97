#pragma once

#include "cli/flags.hpp"
#include "job/flags.hpp"
#include "job/location.hpp"
#include "packaging/image_name.hpp"
#include "packaging/request.hpp"

#include <string>
#include <vector>

namespace autopack::cli {

/// The flags that say how an image is made; every command that packages has them.
struct BuildOptions {
  std::string engine{"auto"};
  std::string source{"worktree"};
  std::string dockerfile{};
  std::string templates{};
  std::string platform{"linux/amd64"};
  std::string build_network{};
  bool no_cache{false};
  bool strict{false};
  std::string max_dependency_age{};
  std::vector<std::string> outputs{};
  bool label_git{false};
  bool pin{false};
};

/// The flags that say what goes in; `submit` takes the same as keys of `--worker-pool-spec`.
struct PackagingOptions {
  std::string executor_image{};
  std::string local_package_path{"."};
  std::string script{};
  std::string python_module{};
  job::FlagValues command{};
  std::string launcher{};
  job::FlagValues requirements{};
  job::FlagValues requirement_files{};
  job::FlagValues package_extras{};
  job::FlagValues groups{};
  job::FlagValues build_environment{};
  job::FlagValues extra_packages{};
  job::FlagValues extra_dirs{};
  job::FlagValues include{};
  job::FlagValues exclude{};
  job::FlagValues system_packages{};
  std::string output_image{};
  std::string display_name{};

  bool has_entry() const { return !script.empty() || !python_module.empty() || !command.empty(); }
};

void add_build_flags(FlagSet& flags, BuildOptions& options);
/// `--output`, of the commands whose image goes somewhere.
void add_output_flag(FlagSet& flags, BuildOptions& options);
void add_packaging_flags(FlagSet& flags, PackagingOptions& options);

/// Throws Error(usage) for values that autopack cannot act on.
void check_build_options(const BuildOptions& options);

/// Throws Error(usage) when there is no image to start from, and no Dockerfile that names one.
void require_executor(const PackagingOptions& packaging, const BuildOptions& build);

/// What the flags ask to package; lists split at `,` (or `^D^`).
packaging::Request package_request(const PackagingOptions& packaging,
                                   const BuildOptions& build,
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
