#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace autopack::registry {

/// An image name in Artifact Registry taken apart. A name that ends before the
/// repository has an empty one.
struct ArtifactName {
  std::string location{};  ///< `us-central1`, `europe`
  std::string project{};   ///< `example.com:name` for a project of a domain
  std::string repository{};
  std::optional<std::string> image{};

  /// `projects/P/locations/L/repositories/R`.
  std::string resource() const;
};

/// None when `host` is not Artifact Registry's. The gcr.io hosts count: they lead to repositories
/// of their own name.
std::optional<ArtifactName> parse_artifact_name(const std::string& host, const std::string& path);

}  // namespace autopack::registry
