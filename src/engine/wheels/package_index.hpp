#pragma once

#include "index/access.hpp"
#include "index/index_client.hpp"
#include "index/wheel_cache.hpp"
#include "packaging/packaging.hpp"
#include "services/services.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace autopack::engine {

/// The package indexes of a project, and the wheels that were fetched from them.
class PackageIndex {
public:
  /// As pip would use them: this machine's settings, then the options of requirement files.
  /// `default_index` stands in where nothing names an index. Throws as index::find_index_settings.
  PackageIndex(Services& services,
               const packaging::Packaging& work,
               const std::optional<std::string>& default_index);

  index::IndexClient& client() { return client_; }

  index::WheelCache& wheels() { return wheels_; }

  /// True when there is no place to look for packages.
  bool is_nowhere() const;

  /// What tells these places from others, without logins.
  std::string identity() const;

  /// Fetches those of `wanted` that are not cached, side by side, and reports how many of `all`
  /// wheels they are.
  void fetch(const std::vector<index::Download>& wanted, std::size_t all);

private:
  Reporter& reporter_;
  index::Access access_;
  index::IndexClient client_;
  index::WheelCache wheels_;
};

}  // namespace autopack::engine
