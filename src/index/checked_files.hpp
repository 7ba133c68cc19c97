#pragma once

#include "base/report.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace autopack::index {

/// Compares cached files with the SHA-256 in their names, each file once per process. Thread-safe.
class CheckedFiles {
public:
  /// `cancellation` may be null and must outlive it.
  explicit CheckedFiles(const Cancellation* cancellation) : cancellation_{cancellation} {}

  /// Returns whether `path` has `size` bytes with that hash, and nobody but this user could have
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

}  // namespace autopack::index
