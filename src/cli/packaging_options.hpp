#pragma once

#include "cli/flags.hpp"
#include "job/flags.hpp"
#include "job/location.hpp"
#include "packaging/image_name.hpp"
#include "packaging/request.hpp"
#include "packaging/settings.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The flags for building an image, of every command that packages.
struct BuildOptions {
  std::string engine{"auto"};
  std::string builder{"auto"};
  std::optional<std::string> staging_bucket{};
  std::string resolver{"uv"};
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
  std::vector<std::string> sboms{};
  bool label_git{false};
  bool no_infer{false};
  bool pin{false};
  bool attest{false};
  std::optional<std::string> sign_key{};
};

/// The flags for the content of an image; `submit` accepts the same as keys of
/// `--worker-pool-spec`.
struct PackagingOptions {
  packaging::Settings texts{};                                  ///< of the flags with a text
  std::map<std::string, job::FlagValues, std::less<>> lists{};  ///< the others, by key
  std::optional<std::string> display_name{};

  /// Returns the typed settings, with lists split; adds unreadable ones to `problems`.
  packaging::Settings settings(Problems& problems) const;
  bool is_given(const packaging::Setting& setting) const;
  bool has_entry() const;
};

void add_build_flags(FlagSet& flags, BuildOptions& options);
/// Adds the flags about Cloud Build, for commands whose image goes to a registry.
void add_builder_flags(FlagSet& flags, BuildOptions& options);
/// Adds the flags about documents that are attached to the image, for the same commands.
void add_attest_flags(FlagSet& flags, BuildOptions& options);
/// Returns the value of `--engine`, which must be checked.
packaging::Engine engine_of(const BuildOptions& options);
/// Adds `--sbom`, for commands that make images.
void add_sbom_flag(FlagSet& flags, BuildOptions& options);
/// Adds `--output`, for commands that store their image.
void add_output_flag(FlagSet& flags, BuildOptions& options);
void add_packaging_flag(FlagSet& flags,
                        PackagingOptions& options,
                        const packaging::Setting& setting);
void add_packaging_flags(FlagSet& flags, PackagingOptions& options);

/// Throws Error(usage) for invalid values, except those of `--platform`.
void check_build_options(const BuildOptions& options);

/// Returns the platforms of `--platform`, which may be repeated or a list, without duplicates, in
/// the given order. Throws Error(usage) for an invalid platform.
std::vector<std::string> platforms_of(const FlagSet& flags, const BuildOptions& options);

/// As check_build_options, for a command that makes one image: also throws Error(usage) for a
/// second `--platform`, and for an invalid one.
void check_build_options(const BuildOptions& options, const FlagSet& flags);

/// Lets `request` use Cloud Build if the flags ask for it. Throws Error(usage) if `--engine` asks
/// for something else.
void choose_cloud_build(const BuildOptions& options, packaging::Request& request);

/// Throws Error(usage) if there is neither an executor image nor a Dockerfile that names one, and
/// nothing may be inferred.
void require_executor(const PackagingOptions& packaging, const BuildOptions& build);

/// Returns the packaging request of the flags; splits lists at `,` (or `^D^`). `flags` know where
/// each was given. Throws Error(usage) for unreadable values, and for flags that exclude
/// `--dockerfile`.
packaging::Request package_request(const PackagingOptions& packaging,
                                   const BuildOptions& build,
                                   const FlagSet& flags,
                                   const Environment& environment);
/// Returns the packaging request of a job's pool; the job's command is its entry point if it names
/// none.
packaging::Request package_request(const job::PoolFlags& pool,
                                   const job::JobFlags& job,
                                   const BuildOptions& build,
                                   const Environment& environment);

/// Returns the name of the image: the user's, or one derived from the job's or the project
/// directory's name.
packaging::ImageName image_name(const PackagingOptions& packaging,
                                const packaging::Request& request,
                                const job::Location& location);

/// Expands `~` and `~/x` to the home directory.
std::string expand_home(const std::string& path, const Environment& environment);

}  // namespace autopack::cli
