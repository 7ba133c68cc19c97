#pragma once

#include "base/error.hpp"
#include "job/job.hpp"
#include "job/translate.hpp"

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::job {

/// A legacy job read from file and flags, and what there is to say about it.
struct Legacy {
  std::shared_ptr<nlohmann::json> job{};  ///< a Job of ml v1 in its names and JSON types
  Origins origins{};
  Problems problems{};
  std::vector<std::string> local_packages{};
  std::string package_path{};

  const nlohmann::json& input() const;
  /// A text of the training input; empty when there is none.
  std::string text(std::string_view key) const;
  /// Messages about the value at `path`, which begins `trainingInput.`
  void error(const std::string& path, std::string message, std::vector<std::string> hints = {});
  /// The same about a value that is not there; says nothing when one was given that could not be
  /// read.
  void missing(const std::string& path, std::string message, std::vector<std::string> hints = {});
  void warn(const std::string& path, std::string message, std::vector<std::string> hints = {});
};

/// The job of `file` with `flags` laid over it.
Legacy read_legacy(const LegacyFlags& flags, const std::optional<LegacyFile>& file);

/// What the job's replicas are: `workerPoolSpecs`. Sets the region's prebuilt images.
nlohmann::json translate_pools(Legacy& legacy);

/// Sets studySpec and trial counts of `body` from the job's hyperparameters.
void translate_study(Legacy& legacy, nlohmann::json& body);

/// The prebuilt image that comes nearest to a runtime version.
std::string runtime_image(Legacy& legacy, std::string_view accelerator);

}  // namespace autopack::job
