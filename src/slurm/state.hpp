#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::slurm {

/// The state of a job in `squeue` or `sacct`. Absent: unknown.
struct QueuedJob {
  std::string id{};
  std::string state{};                     ///< `RUNNING`
  std::string reason{};                    ///< `Priority`; empty if there is none
  std::optional<std::string> submitted{};  ///< in RFC 3339 format
  std::optional<std::string> started{};
  std::optional<std::string> ended{};
  std::optional<int> status{};  ///< exit status of the script
  std::optional<int> signal{};  ///< that ended the script
  std::string nodes{};
  std::string comment{};
};

/// The columns of `squeue --format`, read by read_queue. Names, which may contain anything, are
/// not among them, and the comment is the last.
inline constexpr auto* queue_format = "%i|%T|%r|%V|%S|%e|%N|%k";
/// The columns of `sacct --parsable2 --format`, read by read_accounting.
inline constexpr auto* accounting_format = "JobID,State,ExitCode,Submit,Start,End,Comment";

/// Returns the jobs in the lines of `squeue`, whose times are UTC. Leaves out lines that are
/// anything else, such as warnings, and the later components of heterogeneous jobs.
std::vector<QueuedJob> read_queue(std::string_view text);
std::vector<QueuedJob> read_accounting(std::string_view text);

/// What the job's script wrote into its directory about its end.
struct Ending {
  std::string state{};      ///< `COMPLETED`, `FAILED`, or Slurm's last state
  int status{0};            ///< exit status of the script
  std::string replica{};    ///< which one failed: `workerpool1-0`; empty: none
  std::int64_t seconds{0};  ///< since 1970
};

/// Returns nothing if `line` is anything else than `STATE STATUS REPLICA SECONDS`, with `-` for no
/// replica.
std::optional<Ending> read_ending(std::string_view line);

/// What is known about one job.
struct KnownJob {
  std::string id{};
  std::string submission{};
  std::string record{};  ///< JSON, as it was written when the job was submitted; empty: none
  std::optional<std::int64_t> created{};  ///< seconds since 1970
  std::optional<std::int64_t> started{};
  std::optional<QueuedJob> queued{};
  std::optional<QueuedJob> accounted{};
  std::optional<Ending> ending{};
  std::string directory{};
};

/// Returns the job in the form of Vertex AI's API (see ClusterJobs). `login` is part of its name.
nlohmann::json job_resource(const KnownJob& job, const std::string& login);

/// Returns `JOB_STATE_RUNNING` for `RUNNING`; `JOB_STATE_UNSPECIFIED` for unknown words.
std::string_view vertex_state(std::string_view slurm_state);

/// Returns what a reason of Slurm means, and what to do; the reason alone if it is unknown.
std::string explain_reason(const std::string& reason);

/// Returns the submission's id in a comment; nothing if autopack did not write it.
std::optional<std::string> submission_of(std::string_view comment);

/// True for a job's number: `123`.
bool is_job_id(std::string_view text);
/// True for 32 hexadecimal digits.
bool is_submission_id(std::string_view text);

inline constexpr std::string_view comment_prefix{"autopack-submission="};

}  // namespace autopack::slurm
