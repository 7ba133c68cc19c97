#pragma once

#include "google/credentials.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::google {

/// Tokens of former runs: one file of mode 0600 for each identity, or none where that cannot be. A
/// cache that cannot be read or written is as good as empty.
class TokenCache {
public:
  /// Without a directory nothing is kept.
  explicit TokenCache(std::optional<std::filesystem::path> directory)
      : directory_{std::move(directory)} {}

  /// None for what is missing, damaged, or open to others.
  std::optional<AccessToken> read(const std::string& identity) const;
  void write(const std::string& identity, const AccessToken& token) const;
  void erase(const std::string& identity) const;

private:
  /// None where nothing is kept.
  std::optional<std::filesystem::path> file_of(const std::string& identity) const;

  std::optional<std::filesystem::path> directory_;
};

}  // namespace autopack::google
