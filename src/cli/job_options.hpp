#pragma once

#include "cli/flags.hpp"
#include "cli/packaging_options.hpp"
#include "cli/pool_options.hpp"
#include "job/make_job.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace autopack::cli {

/// The place of the value of a flag that sets one field.
struct FieldOption {
  const job::FieldFlag* flag{nullptr};
  std::optional<std::string> text{};
  std::optional<bool> choice{};
  std::optional<std::int64_t> number{};
  job::FlagValues list{};
};

/// Returns one for each of job::field_flags, in its order.
std::vector<FieldOption> field_options();

/// The flags of a job as typed, not split yet.
struct JobOptions {
  job::JobFlags flags{};  ///< those that need no splitting
  std::vector<FieldOption> fields{field_options()};
  std::vector<PoolOption> only_pool{pool_options()};
  std::optional<std::string> display_name{};
  job::FlagValues pools{};
  job::FlagValues args{};
  job::FlagValues command{};
  job::FlagValues python_package_uris{};
  job::FlagValues labels{};
  job::FlagValues env{};
  job::FlagValues model_ports{};
  job::FlagValues model_env{};
  job::FlagValues model_labels{};
  std::optional<std::string> config{};
  /// A resumed study: the content for `--config`, and its name. Absent for a new job.
  std::optional<std::pair<std::string, std::string>> resumed{};
  bool tunes{false};  ///< the command is `tune`
  bool with_hypertune{false};
};

/// Adds the flags of a group, each of which sets one field.
void add_field_flags(FlagSet& flags, JobOptions& options, job::FlagGroup group);

void add_job_flags(FlagSet& flags, JobOptions& options);

/// Returns the flags, split; adds unreadable values to `problems`. `typed` knows which were given.
job::JobFlags job_flags(const JobOptions& options, const FlagSet& typed, Problems& problems);

/// Returns the config that `--config` names, from `source`: a file, `-` for standard input, or a
/// document in the settings; nothing if it is not given. Warnings go to `problems` too.
std::optional<job::Config> read_config(const std::vector<FlagSetting>& places,
                                       const std::string& source,
                                       const Environment& environment,
                                       Problems& problems);

/// Returns `2026-11-20`, for dates of end of support.
std::string today();

}  // namespace autopack::cli
