#pragma once

#include "base/error.hpp"
#include "job/job.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::job {

/// What a `--config` file says.
struct Config {
  Job job{};
  std::string name{};  ///< the file's, for messages
  /// The command whose output it is; none for a file on the disk.
  std::optional<std::string> printed_by{};
};

/// Reads a `--config` file's text, YAML or JSON: a CustomJobSpec, CustomJob,
/// HyperparameterTuningJob, StudySpec or TrainingPipeline, snake_case accepted. Unknown keys and
/// values of a wrong type are problems with line and nearest name; what can be read is returned.
/// `name` is the file's as typed, `-` for standard input; `printed_by` as in Config.
Config parse_config(std::string_view text,
                    const std::string& name,
                    Problems& problems,
                    const std::optional<std::string>& printed_by = {});

}  // namespace autopack::job
