#pragma once

#include "google/credentials.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::google {

/// Caches tokens between runs in one file of mode 0600 for each identity. An unreadable or
/// unwritable cache counts as empty.
class TokenCache {
public:
  /// Without a directory, nothing is cached.
  explicit TokenCache(std::optional<std::filesystem::path> directory)
      : directory_{std::move(directory)} {}

  /// Returns nothing if the token is missing, damaged, or accessible to others.
  std::optional<AccessToken> read(const std::string& identity) const;
  void write(const std::string& identity, const AccessToken& token) const;
  void erase(const std::string& identity) const;

private:
  /// Returns nothing if there is no cache.
  std::optional<std::filesystem::path> file_of(const std::string& identity) const;

  std::optional<std::filesystem::path> directory_;
};

}  // namespace autopack::google
