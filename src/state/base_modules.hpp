#pragma once

#include "base/digest.hpp"

#include <filesystem>
#include <map>
#include <string>

namespace autopack::state {

/// Which modules an executor image holds, as far as it was looked into, by the digest of its
/// configuration: a directory of small files. Unreadable or foreign files count as absent; a failed
/// write is no error.
class BaseModules {
public:
  explicit BaseModules(std::filesystem::path directory) : directory_{std::move(directory)} {}

  /// Name -> whether the image holds it; names that were not looked for are absent.
  std::map<std::string, bool> of(const Digest& image) const;
  /// At most `most_names` are kept.
  void store(const Digest& image, const std::map<std::string, bool>& modules) const;

  static constexpr std::size_t most_names{1000};

private:
  std::filesystem::path directory_;
};

}  // namespace autopack::state
