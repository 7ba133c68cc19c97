#pragma once

#include "base/digest.hpp"
#include "image/facts.hpp"
#include "state/store.hpp"

#include <filesystem>
#include <map>
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

/// Caches which modules an executor image has, as far as it was searched, by the digest of its
/// configuration, in a directory of small files. Ignores unreadable or foreign files and failures
/// to write.
class BaseModules {
public:
  explicit BaseModules(std::filesystem::path directory) : store_{std::move(directory), limit} {}

  /// Maps a name to whether the image has it; names that were not searched for are absent.
  std::map<std::string, bool> of(const Digest& image) const;
  /// Keeps at most `most_names`.
  void store(const Digest& image, const std::map<std::string, bool>& modules) const;

  static constexpr std::size_t most_names{1000};

private:
  static constexpr std::uint64_t limit{16'000'000};

  Store store_;
};

}  // namespace autopack::state
