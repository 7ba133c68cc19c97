#pragma once

#include "index/access.hpp"
#include "index/checked_files.hpp"
#include "index/download.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::index {

struct WheelCacheOptions {
  std::filesystem::path directory{};
  std::uint64_t limit{20'000'000'000};   ///< bytes; the files used longest ago go first
  std::chrono::hours oldest{24 * 90};    ///< since its last use
  std::uint64_t largest{8'000'000'000};  ///< bytes of one file
  std::size_t connections{4};
};

/// Bytes that came of all that are to come, as far as that is known. Called from one thread at a
/// time.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// A file of the cache. It is not taken away within an hour.
struct CachedFile {
  std::filesystem::path path{};
  std::string sha256{};  ///< 64 hexadecimal digits
  std::uint64_t size{0};
};

/// Wheels and source archives by their SHA-256, shared by all processes of the person. A file whose
/// bytes are not those of its name, or that another user could have written, counts as absent: it
/// is read when it is first asked for.
class WheelCache {
public:
  /// `access` must outlive it.
  WheelCache(const Access& access, WheelCacheOptions options);

  /// Returns whether there is a file of that name, `sha256` in hexadecimal digits. Its bytes are
  /// not read.
  bool has(const std::string& sha256) const;

  /// Returns the file, whose bytes were compared with the hash in this process; nothing if there is
  /// none.
  std::optional<CachedFile> find(const std::string& sha256) const;
  /// The same by any SHA-256 of `what`, of its size where that is known.
  std::optional<CachedFile> find(const Download& what) const;

  /// The verified file, from the cache or downloaded. A download that another process is at is
  /// waited for; one that broke off is gone on with. Throws as fetch does.
  CachedFile get(const Download& what, const Progress& progress = {});

  /// The same of several at once, in their order. `arrived` is told each file as soon as it is
  /// there, from one thread at a time. Throws what the first failure throws.
  std::vector<CachedFile> get_all(
      const std::vector<Download>& downloads,
      const Progress& progress = {},
      const std::function<void(std::size_t index, const CachedFile&)>& arrived = {});

  using Take = std::function<void(std::string_view bytes)>;

  /// A file from elsewhere than an index, whose bytes `write` hands over. Throws what `write`
  /// throws, and Error(environment) when the disk refuses.
  CachedFile add(const std::function<void(const Take& out)>& write) const;

  /// Takes a file away that turned out to be damaged.
  void forget(const std::string& sha256) const;

  /// Removes what is old, and the oldest above the limit. Never throws.
  void prune() const;

private:
  CachedFile bring(const Download& what, const DownloadProgress& progress);
  std::optional<CachedFile> named(const std::string& sha256) const;
  std::optional<CachedFile> named(const Download& what) const;
  /// `file` if it is sound; removes one that is not.
  std::optional<CachedFile> checked(std::optional<CachedFile> file) const;
  std::filesystem::path path_of(const std::string& sha256, std::uint64_t size) const;

  const Access& access_;
  WheelCacheOptions options_;
  std::unique_ptr<CheckedFiles> checked_;
};

}  // namespace autopack::index
