#pragma once

#include "base/error.hpp"
#include "job/job.hpp"
#include "job/legacy_job.hpp"
#include "job/translate.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// A legacy job read from file and flags, and what there is to say about it.
struct Legacy {
  LegacyJob job{};
  Origins origins{};
  Problems problems{};
  std::vector<std::string> local_packages{};
  Text package_path{};

  const LegacyInput& input() const { return job.input; }

  /// True when the program is on this machine, to be packaged.
  bool is_local() const { return package_path || !local_packages.empty(); }

  /// Messages about the value at `path`, which begins `trainingInput.`
  void error(const std::string& path, std::string message, std::vector<std::string> hints = {});
  /// The same about a value that is not there; says nothing when one was given that could not be
  /// read.
  void missing(const std::string& path, std::string message, std::vector<std::string> hints = {});
  void warn(const std::string& path, std::string message, std::vector<std::string> hints = {});
};

/// Replicas that do the same.
struct LegacyRole {
  std::string_view name;  ///< what its keys begin with
  Text LegacyInput::*type;
  Number LegacyInput::*count;  ///< null for the master, which is one
  std::optional<LegacyReplica> LegacyInput::*replica;
};

/// In the order of Vertex AI's pools.
inline constexpr std::array legacy_roles{
    LegacyRole{"master", &LegacyInput::master_type, nullptr, &LegacyInput::master},
    LegacyRole{"worker", &LegacyInput::worker_type, &LegacyInput::worker_count,
               &LegacyInput::worker},
    LegacyRole{"parameterServer", &LegacyInput::parameter_server_type,
               &LegacyInput::parameter_server_count, &LegacyInput::parameter_server},
    LegacyRole{"evaluator", &LegacyInput::evaluator_type, &LegacyInput::evaluator_count,
               &LegacyInput::evaluator},
};

/// The job of `file` with `flags` laid over it.
Legacy read_legacy(const LegacyFlags& flags, const std::optional<LegacyFile>& file);

/// What the job's replicas are.
std::vector<Pool> translate_pools(Legacy& legacy);

/// Sets study and trial counts of `job` from the legacy job's hyperparameters.
void translate_study(Legacy& legacy, const LegacyStudy& study, Job& job);

/// The prebuilt image that comes nearest to the runtime version. None, and a problem, without one.
Text runtime_image(Legacy& legacy, const Text& accelerator);

}  // namespace autopack::job
