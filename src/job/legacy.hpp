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

/// A legacy job read from file and flags, and the findings about it.
struct Legacy {
  LegacyJob job{};
  Origins origins{};
  Problems problems{};
  std::vector<std::string> local_packages{};
  Text package_path{};

  const LegacyInput& input() const { return job.input; }

  /// Returns true if the program is on this machine and must be packaged.
  bool is_local() const { return package_path || !local_packages.empty(); }

  /// Reports an error about the value at `path`, which begins with `trainingInput.`
  void error(const std::string& path, std::string message, std::vector<std::string> hints = {});
  /// The same about a missing value; reports nothing if a value was given but could not be read.
  void missing(const std::string& path, std::string message, std::vector<std::string> hints = {});
  void warn(const std::string& path, std::string message, std::vector<std::string> hints = {});
};

/// Replicas with the same role.
struct LegacyRole {
  std::string_view name;  ///< the prefix of its keys
  Text LegacyInput::*type;
  Number LegacyInput::*count;  ///< null for the master, which has one replica
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

/// Returns the job of `file` with `flags` merged into it.
Legacy read_legacy(const LegacyFlags& flags, const std::optional<LegacyFile>& file);

/// Returns the pools for the job's replicas.
std::vector<Pool> translate_pools(Legacy& legacy);

/// Sets study and trial counts of `job` from the legacy job's hyperparameters.
void translate_study(Legacy& legacy, const LegacyStudy& study, Job& job);

/// Returns the prebuilt image nearest to the runtime version. If there is none, reports a problem
/// and returns nothing.
Text runtime_image(Legacy& legacy, const Text& accelerator);

}  // namespace autopack::job
