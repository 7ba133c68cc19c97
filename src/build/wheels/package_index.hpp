#pragma once

#include "index/access.hpp"
#include "index/index_client.hpp"
#include "index/wheel_cache.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace autopack::build {

/// The package indexes of a project, and the wheels fetched from them.
class PackageIndex {
public:
  /// Uses the settings of pip: this machine's, then the options of requirement files.
  /// `default_index` applies if nothing names an index. Throws as index::find_index_settings.
  PackageIndex(Services& services,
               const packaging::Packaging& work,
               const std::optional<std::string>& default_index);

  index::IndexClient& client() { return client_; }

  index::WheelCache& wheels() { return wheels_; }

  const index::IndexSettings& settings() const { return access_.settings(); }

  /// Returns true if there is no index.
  bool is_nowhere() const;

  /// Returns a text that identifies the indexes, without logins.
  std::string identity() const;

  /// Fetches those of `wanted` that are not cached, concurrently, and reports their number among
  /// `all` wheels.
  void fetch(const std::vector<index::Download>& wanted, std::size_t all);

private:
  Reporter& reporter_;
  index::Access access_;
  index::IndexClient client_;
  index::WheelCache wheels_;
};

/// Returns a token if the user is logged in to Google, for indexes in Artifact Registry.
std::optional<Secret> google_token(Services& services);

}  // namespace autopack::build
