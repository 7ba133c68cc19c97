#pragma once

#include "base/report.hpp"
#include "index/access.hpp"
#include "index/download.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::index {

/// Compares cached files with the SHA-256 in their names, each file once per process. Thread-safe.
class CheckedFiles {
public:
  /// `cancellation` may be null and must outlive it.
  explicit CheckedFiles(const Cancellation* cancellation) : cancellation_{cancellation} {}

  /// Returns whether `path` has `size` bytes with that hash, and no other user could have
  /// written it. Throws Interrupted.
  bool holds(const std::filesystem::path& path, const std::string& sha256, std::uint64_t size);

  /// Remembers that this process wrote `path` with the hash of its name.
  void add(const std::filesystem::path& path);

private:
  struct Identity {
    dev_t device{0};
    ino_t inode{0};
    off_t size{0};

    bool operator==(const Identity&) const = default;
  };

  /// Locked while the file is read, so that two layers of one wheel do not both read it.
  struct Checked {
    std::mutex mutex{};
    std::optional<Identity> identity{};
  };

  static std::optional<Identity> identity_of(const std::filesystem::path& path);
  std::shared_ptr<Checked> entry(const std::filesystem::path& path);

  const Cancellation* cancellation_;
  std::mutex mutex_{};
  std::map<std::string, std::shared_ptr<Checked>> files_{};
};

struct WheelCacheOptions {
  std::filesystem::path directory{};
  /// in bytes; the least recently used files are removed first
  std::uint64_t limit{20'000'000'000};
  std::chrono::hours oldest{24 * 90};    ///< since its last use
  std::uint64_t largest{8'000'000'000};  ///< bytes of one file
  std::size_t connections{4};
};

/// Called with the bytes downloaded so far and the known total. Called from one thread at a time.
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// A file of the cache. It is not removed within an hour.
struct CachedFile {
  std::filesystem::path path{};
  std::string sha256{};  ///< 64 hexadecimal digits
  std::uint64_t size{0};
};

/// Wheels and source archives by their SHA-256, shared by all processes of the user. A file that
/// does not match its name, or that another user could have written, counts as absent. Each file is
/// checked when it is first requested.
class WheelCache {
public:
  /// `access` must outlive it.
  WheelCache(const Access& access, WheelCacheOptions options);

  /// Returns whether there is a file with that name, `sha256` in hexadecimal digits, without
  /// reading it.
  bool has(const std::string& sha256) const;

  /// Returns the file, or nothing. Its bytes were compared with the hash in this process.
  std::optional<CachedFile> find(const std::string& sha256) const;
  /// The same, by any SHA-256 of `what` and by its size if that is known.
  std::optional<CachedFile> find(const Download& what) const;

  /// Returns the verified file, from the cache or downloaded. Waits if another process is
  /// downloading it, and continues an interrupted download. Throws like fetch().
  CachedFile get(const Download& what, const Progress& progress = {});

  /// The same for several files at once, in their order. `arrived` is called with each file as soon
  /// as it is available, from one thread at a time. Throws the exception of the first failure.
  std::vector<CachedFile> get_all(
      const std::vector<Download>& downloads,
      const Progress& progress = {},
      const std::function<void(std::size_t index, const CachedFile&)>& arrived = {});

  using Take = std::function<void(std::string_view bytes)>;

  /// Adds a file that does not come from an index; `write` passes its bytes. Throws what `write`
  /// throws, and Error(environment) if the disk fails.
  CachedFile add(const std::function<void(const Take& out)>& write) const;

  /// Removes a file that turned out to be damaged.
  void forget(const std::string& sha256) const;

  /// Removes old files, and the oldest ones above the limit. Never throws.
  void prune() const;

private:
  CachedFile bring(const Download& what, const DownloadProgress& progress);
  std::optional<CachedFile> named(const std::string& sha256) const;
  std::optional<CachedFile> named(const Download& what) const;
  /// Returns `file` if it is intact; removes a damaged one.
  std::optional<CachedFile> checked(std::optional<CachedFile> file) const;
  std::filesystem::path path_of(const std::string& sha256, std::uint64_t size) const;

  const Access& access_;
  WheelCacheOptions options_;
  std::unique_ptr<CheckedFiles> checked_;
};

}  // namespace autopack::index
