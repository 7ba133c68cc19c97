#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::registry {

/// The components of an image name in Artifact Registry. If the name ends before the repository,
/// `repository` is empty.
struct ArtifactName {
  std::string location{};  ///< `us-central1`, `europe`
  std::string project{};   ///< `example.com:name` for a project of a domain
  std::string repository{};
  std::optional<std::string> image{};

  /// Returns `projects/P/locations/L/repositories/R`.
  std::string resource() const;
};

/// Returns nothing if `host` does not belong to Artifact Registry. The gcr.io hosts count: they map
/// to repositories of the same name.
std::optional<ArtifactName> parse_artifact_name(const std::string& host, const std::string& path);

}  // namespace autopack::registry
