#pragma once

#include "image/facts.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

/// Base facts by digest (and, for looking up without a registry, by reference and platform) in a
/// directory of small files. Unreadable or foreign files count as absent; a failed write is no
/// error.
class BaseCache {
public:
  explicit BaseCache(std::filesystem::path directory) : directory_{std::move(directory)} {}

  std::optional<image::BaseFacts> by_digest(const Digest& digest,
                                            const std::string& platform) const;
  /// The facts last stored for a reference: may be stale; good for printing a Dockerfile only.
  std::optional<image::BaseFacts> by_reference(const std::string& reference,
                                               const std::string& platform) const;
  void store(const image::BaseFacts& facts) const;

private:
  std::filesystem::path directory_;
};

}  // namespace autopack::state
