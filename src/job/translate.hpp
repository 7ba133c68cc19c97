#pragma once

#include "base/error.hpp"
#include "job/job.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::job {

/// What a flag of one role of replicas says.
struct LegacyRoleFlags {
  std::string machine_type{};
  std::string count{};
  std::string image_uri{};
  std::string accelerator{};  ///< `type=nvidia-tesla-t4,count=1`
};

/// The flags of `gcloud ai-platform jobs submit training` as typed. Empty = not typed.
struct LegacyFlags {
  std::string job_id{};
  std::string region{};
  std::string scale_tier{};  ///< `custom`, `basic-gpu`
  std::string runtime_version{};
  std::string python_version{};
  std::string module_name{};
  std::string package_path{};
  std::string job_dir{};
  std::string service_account{};
  std::string network{};
  std::string kms_key{};  ///< whole resource name
  std::string use_chief{};
  std::vector<std::string> packages{};
  std::vector<std::pair<std::string, std::string>> labels{};
  LegacyRoleFlags master{};
  LegacyRoleFlags worker{};
  LegacyRoleFlags parameter_server{};
  LegacyRoleFlags evaluator{};
  bool enable_web_access{false};
  std::optional<std::vector<std::string>> args{};  ///< after `--`
};

/// A file of the legacy service, unread.
struct LegacyFile {
  std::string text{};
  std::string name{};  ///< as typed; `-` for standard input
};

/// A legacy job in Vertex AI's words.
struct Translation {
  Job job{};  ///< a custom job or a tuning job
  std::string region{};
  /// Flag that packages the job's local code; empty when all its code is in images and in Cloud
  /// Storage.
  std::string pool_flag{};
  Problems warnings{};  ///< one for each thing that has no equal
};

/// Translates file (may be none) and flags, which win, as Google documents the move. All
/// that is wrong with them at once as Error(usage).
Translation translate(const LegacyFlags& flags, const std::optional<LegacyFile>& file);

}  // namespace autopack::job
