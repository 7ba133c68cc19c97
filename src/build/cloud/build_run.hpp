#pragma once

#include "base/report.hpp"
#include "build/cloud/build_log.hpp"
#include "google/cloud_build.hpp"
#include "google/storage.hpp"

#include <nlohmann/json_fwd.hpp>

#include <functional>
#include <memory>
#include <string>

namespace autopack::build {

/// A build to run once, and to follow.
struct BuildRun {
  const google::Builds* builds{nullptr};
  const google::Storage* storage{nullptr};
  std::shared_ptr<const nlohmann::json> body{};
  std::string tag{};              ///< of `body`; no other build has it
  google::StoredObject source{};  ///< of `body`
  /// Returns a client that the user's interruption does not stop.
  std::function<http::Client&()> uninterrupted{};
  Reporter* reporter{nullptr};
};

/// Creates the build exactly once, reports its log to `log`, and returns it when it has ended.
/// After a lost or unclear answer to the create, it looks for a build with the tag, and sends the
/// create again only if there is none. If the user interrupts it, or if it fails, it cancels the
/// build. Throws Error(remote), or Interrupted with what became of the build.
google::Build run_build(const BuildRun& run, CloudLog& log);

/// Returns the command that lists the builds with the tag.
std::string list_command(const google::BuildPlace& place, const std::string& tag);

}  // namespace autopack::build
