#pragma once

#include "base/error.hpp"
#include "job/job.hpp"
#include "slurm/container.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::slurm {

/// What only Slurm has, with the words of sbatch.
struct QueueOptions {
  std::optional<std::string> partition{};
  std::optional<std::string> account{};
  std::optional<std::string> qos{};
  std::optional<std::string> gres{};
  std::optional<std::string> time{};
  std::optional<std::string> signal{};
};

/// Returns everything in the job that has no place in Slurm, or that a script cannot hold.
Problems check_for_slurm(const job::Job& job, const QueueOptions& queue);

/// Returns true if a shell accepts it.
bool is_variable_name(std::string_view name);
/// True for the names that the shell of the script or srun itself uses.
bool is_reserved(const std::string& name);
/// Returns the seconds of `7200s`, rounded up; nothing for anything else.
std::optional<std::int64_t> seconds_of(const std::string& duration);

/// What a pool runs. Absent words: those of the image, which is not known yet.
struct PoolProgram {
  std::string image{};  ///< `HOST/REPOSITORY@sha256:...`
  std::optional<std::vector<std::string>> words{};
  std::vector<std::string> environment{};  ///< of the image: `NAME=value`
  std::string directory{"/"};              ///< where it starts
  std::string bundle{};                    ///< its directory there; empty for pyxis
};

struct ScriptRequest {
  const job::Job* job{nullptr};
  QueueOptions queue{};
  ContainerKind container{ContainerKind::native};
  std::vector<Mount> mounts{};
  std::vector<PoolProgram> programs{};  ///< one for each pool
  std::string submission{};             ///< the id
};

/// A job for sbatch. It begins in its own directory.
struct Script {
  std::string batch{};
  /// The file `environment` beside it: the variables of the programs. Slurm gets no copy.
  std::string environment{};
};

/// `job` passed check_for_slurm.
Script write_script(const ScriptRequest& request);

/// Returns `2-03:04:05` for a number of seconds.
std::string slurm_time(std::int64_t seconds);

/// Returns a name for the job that needs no quotes.
std::string job_name(const job::Job& job);

}  // namespace autopack::slurm
