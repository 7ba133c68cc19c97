#pragma once

#include "base/error.hpp"
#include "slurm/container.hpp"
#include "slurm/script.hpp"
#include "slurm/state.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The scripts that run on a login machine, and what they print.

namespace autopack::slurm {

inline constexpr auto* default_shared_directory = "~/.autopack";

/// Throws Error(usage) if `text` is neither an absolute path nor one below `~/`, or has signs that
/// Slurm replaces in names of files.
std::string read_shared_directory(const std::string& text);

/// What a cluster has.
struct ClusterFacts {
  ClusterUser user{};
  std::string directory{};                  ///< the shared one, absolute
  std::vector<std::string> missing{};       ///< commands
  std::vector<ContainerKind> containers{};  ///< the preferred one first
  std::string version{};                    ///< `slurm 22.05.8`
};

std::string facts_script(const std::string& shared_directory);
/// Returns nothing if the text is not what the script prints.
std::optional<ClusterFacts> read_facts(std::string_view text);

/// A partition.
struct Partition {
  std::string name{};
  bool is_default{false};
  bool is_up{false};
  std::optional<std::int64_t> limit{};  ///< in seconds; absent: none
  std::size_t nodes{0};
  std::string gres{};
};

/// Slurm's answer to a job that it only tested.
struct TestAnswer {
  std::vector<Partition> partitions{};
  bool was_accepted{false};
  std::string said{};
};

/// `batch` is the text of a job.
std::string test_script(const std::string& batch);
TestAnswer read_test(std::string_view text);

/// Returns the findings about a job of `nodes` nodes in its largest pool.
Problems findings(const TestAnswer& answer,
                  const QueueOptions& queue,
                  const std::optional<std::int64_t>& seconds,
                  std::size_t nodes);

/// Returns the seconds of Slurm's form of a time limit: `30` minutes, `2:00:00`, `1-12`. Nothing
/// for `infinite` and for anything else.
std::optional<std::int64_t> read_slurm_time(std::string_view text);

struct Submission {
  std::string id{};
  std::string directory{};  ///< the shared one, absolute
  Script script{};
  std::string record{};  ///< JSON in one line
};

/// The script submits once, however often it runs: it writes the job's number beside it, and looks
/// for the comment before it calls sbatch. Prints `id NUMBER`, or the reason on standard error.
std::string submit_script(const Submission& submission);
/// Returns the job's number.
std::optional<std::string> read_submitted(std::string_view text);
/// The exit statuses of submit_script.
inline constexpr int submit_refused{4};
inline constexpr int submit_unclear{5};

/// Prints all jobs of autopack; with an `id`, the job with that number alone.
std::string jobs_script(const std::string& shared_directory, const std::optional<std::string>& id);
/// Returns the jobs, the newest first.
std::vector<KnownJob> read_jobs(std::string_view text);

/// How much of each log was read, by its name without `.log`.
using Offsets = std::map<std::string, std::uint64_t>;

/// Prints new text of the logs in `directory`, a piece of each.
std::string logs_script(const std::string& directory, const Offsets& offsets);

/// New text of one log.
struct LogPiece {
  std::string name{};  ///< `workerpool0-0`; `batch` of the script itself
  std::uint64_t offset{0};
  std::string text{};
};

/// Returns nothing for damaged output.
std::optional<std::vector<LogPiece>> read_logs(std::string_view text);

/// Prints `present` if the bundle `key` is there, or could be made from another one of its image;
/// else `absent`, after it has written the receiver.
std::string bundle_script(const std::string& directory,
                          const std::string& key,
                          const std::string& configuration);
/// Returns the path of the receiver, which unpacks a tar from its standard input.
std::string receiver_path(const std::string& directory, const std::string& key);

}  // namespace autopack::slurm
