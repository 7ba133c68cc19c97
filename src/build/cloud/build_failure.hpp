#pragma once

#include "base/error.hpp"
#include "build/cloud/build_log.hpp"
#include "build/docker/build_context.hpp"
#include "google/cloud_build.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace autopack::build {

/// What the error of a failed build names.
struct FailedBuild {
  const nlohmann::json* build{nullptr};  ///< as Cloud Build returned it at its end
  const CloudLog* log{nullptr};
  const ContextParts* parts{nullptr};
  google::BuildPlace place{};
  std::string bucket{};
  std::string image{};  ///< with its tag
};

/// Returns the error of a build that ended without success: its status, the failed step or the last
/// lines of its log, where the whole log is, and the remedy.
Error cloud_build_error(const FailedBuild& failed);

/// Returns the account that runs the builds of `build`, for people.
std::string builder_account(const nlohmann::json& build);

}  // namespace autopack::build
