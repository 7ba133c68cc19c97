#pragma once

#include "base/error.hpp"
#include "job/job.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::job {

/// The content of a `--config` file.
struct Config {
  Job job{};
  std::string name{};  ///< the file's, for messages
  /// The command that printed the config; absent for a file on the disk.
  std::optional<std::string> printed_by{};
};

/// Reads the text of a `--config` file, YAML or JSON: a CustomJobSpec, CustomJob,
/// HyperparameterTuningJob, StudySpec or TrainingPipeline; accepts snake_case. Reports unknown keys
/// and values of a wrong type as problems with line and nearest name, and returns the rest. `name`
/// is the file's as typed, `-` for standard input; `printed_by` as in Config.
Config parse_config(std::string_view text,
                    const std::string& name,
                    Problems& problems,
                    const std::optional<std::string>& printed_by = {});

}  // namespace autopack::job
