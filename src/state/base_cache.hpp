#pragma once

#include "image/facts.hpp"
#include "state/store.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace autopack::state {

/// Caches base facts by digest (and, for lookups without a registry, by reference and platform) in
/// a directory of small files. Ignores unreadable or foreign files and failures to write.
class BaseCache {
public:
  explicit BaseCache(std::filesystem::path directory) : store_{std::move(directory), limit} {}

  std::optional<image::BaseFacts> by_digest(const Digest& digest,
                                            const std::string& platform) const;
  /// Returns the facts last stored for a reference. They may be stale, so use them only to print a
  /// Dockerfile.
  std::optional<image::BaseFacts> by_reference(const std::string& reference,
                                               const std::string& platform) const;
  void store(const image::BaseFacts& facts) const;

private:
  static constexpr std::uint64_t limit{16'000'000};

  Store store_;
};

}  // namespace autopack::state
