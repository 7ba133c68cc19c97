#pragma once

#include "cli/flags.hpp"
#include "cli/packaging_options.hpp"
#include "job/job.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::cli {

/// The flags of a job as typed, nothing split yet.
struct JobOptions {
  job::JobFlags flags{};  ///< those that need no splitting
  std::vector<std::string> pools{};
  std::vector<std::string> args{};
  std::vector<std::string> command{};
  std::vector<std::string> python_package_uris{};
  std::vector<std::string> labels{};
  std::vector<std::string> env{};
  std::vector<std::string> reserved_ip_ranges{};
  std::vector<std::string> models{};
  std::vector<std::string> model_ports{};
  std::vector<std::string> model_env{};
  std::vector<std::string> model_labels{};
  std::vector<std::string> model_version_aliases{};
  std::string config{};
  bool tunes{false};  ///< of the command `tune`
  bool with_hypertune{false};
};

void add_job_flags(FlagSet& flags, JobOptions& options);

/// The flags split; what cannot be read is added to `problems`. `typed` tells which were given.
job::JobFlags job_flags(const JobOptions& options, const FlagSet& typed, Problems& problems);

/// The `--config` file as `source` has it, `-` for standard input; none when `file` is empty.
/// Warnings go to `problems` too.
std::optional<job::Config> read_config(const std::string& file,
                                       const std::string& source,
                                       const Environment& environment,
                                       Problems& problems);

/// `2026-11-20`, for what ends on a day.
std::string today();

}  // namespace autopack::cli
