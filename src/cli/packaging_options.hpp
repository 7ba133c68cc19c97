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
  packaging::Settings texts{};                                  ///< of the flags that take a text
  std::map<std::string, job::FlagValues, std::less<>> lists{};  ///< the others, by key
  std::optional<std::string> display_name{};

  /// What was typed, each list taken apart; what cannot be is added to `problems`.
  packaging::Settings settings(Problems& problems) const;
  bool is_given(const packaging::Setting& setting) const;
  bool has_entry() const;
};

void add_build_flags(FlagSet& flags, BuildOptions& options);
/// `--output`, of the commands whose image goes somewhere.
void add_output_flag(FlagSet& flags, BuildOptions& options);
void add_packaging_flag(FlagSet& flags,
                        PackagingOptions& options,
                        const packaging::Setting& setting);
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

/// What the flags ask to package; lists split at `,` (or `^D^`). `flags` know where each was given.
/// Throws Error(usage) for values that cannot be read, and for flags that exclude `--dockerfile`.
packaging::Request package_request(const PackagingOptions& packaging,
                                   const BuildOptions& build,
                                   const FlagSet& flags,
                                   const Environment& environment);
/// What a job's pool asks to package; the job's command is its entry point if it names none.
packaging::Request package_request(const job::PoolFlags& pool,
                                   const job::JobFlags& job,
                                   const BuildOptions& build,
                                   const Environment& environment);

/// The name of the image: the user's, or one made from the job's or the project directory's name.
packaging::ImageName image_name(const PackagingOptions& packaging,
                                const packaging::Request& request,
                                const job::Location& location);

/// `~` and `~/x` as the home directory says.
std::string expand_home(const std::string& path, const Environment& environment);

}  // namespace autopack::cli
