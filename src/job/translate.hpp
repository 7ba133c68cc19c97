#pragma once

#include "base/error.hpp"
#include "job/job.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::job {

/// The flags of one role of replicas.
struct LegacyRoleFlags {
  Text machine_type{};
  Text count{};
  Text image_uri{};
  Text accelerator{};  ///< `type=nvidia-tesla-t4,count=1`
};

/// The flags of `gcloud ai-platform jobs submit training` as typed.
struct LegacyFlags {
  Text job_id{};
  Text region{};
  Text scale_tier{};  ///< `custom`, `basic-gpu`
  Text runtime_version{};
  Text python_version{};
  Text module_name{};
  Text package_path{};
  Text job_dir{};
  Text service_account{};
  Text network{};
  Text kms_key{};  ///< whole resource name
  Text use_chief{};
  std::vector<std::string> packages{};
  std::vector<std::pair<std::string, std::string>> labels{};
  LegacyRoleFlags master{};
  LegacyRoleFlags worker{};
  LegacyRoleFlags parameter_server{};
  LegacyRoleFlags evaluator{};
  bool enable_web_access{false};
  std::optional<std::vector<std::string>> args{};  ///< after `--`
};

/// A file of the legacy service, not parsed yet.
struct LegacyFile {
  std::string text{};
  std::string name{};  ///< as typed; `-` for standard input
};

/// A legacy job translated to Vertex AI.
struct Translation {
  Job job{};  ///< a custom job or a tuning job
  Text region{};
  /// The flag that packages the job's local code; absent if all code is in images and Cloud
  /// Storage.
  Text pool_flag{};
  Problems warnings{};  ///< one for each setting without an equivalent
};

/// Translates file (optional) and flags as Google documents the migration; flags override the file.
/// Throws Error(usage) with all errors at once.
Translation translate(const LegacyFlags& flags, const std::optional<LegacyFile>& file);

}  // namespace autopack::job
