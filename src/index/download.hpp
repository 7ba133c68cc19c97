#pragma once

#include "base/descriptor.hpp"
#include "base/report.hpp"
#include "index/access.hpp"
#include "index/candidate.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::index {

/// A file that is being downloaded, held by one thread of one process at a time. The bytes stay for
/// the next holder. All methods throw Error(environment) if the disk fails.
class PartialFile {
public:
  /// How long to wait for another holder whose file does not grow.
  struct Patience {
    std::chrono::milliseconds time{30'000};
    const Cancellation* cancellation{nullptr};  ///< may be null
  };

  /// Waits until no other process holds `path`; returns nothing if `is_done` meanwhile returns
  /// true. If the other holder makes no progress, or files cannot be locked, returns a private file
  /// that nobody else continues.
  static std::optional<PartialFile> take(const std::filesystem::path& path,
                                         const std::function<bool()>& is_done,
                                         const Patience& patience);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  /// Returns the number of bytes so far.
  std::uint64_t size() const { return size_; }

  /// Passes all bytes so far to `sink`, in pieces.
  void read(const std::function<void(std::string_view)>& sink) const;
  void append(std::string_view bytes);
  /// Empties the file.
  void clear();
  /// Moves the file to `path` and creates the parent directories.
  void commit(const std::filesystem::path& path);

private:
  PartialFile(std::filesystem::path path, FileDescriptor file, bool is_shared);

  std::filesystem::path path_;
  FileDescriptor file_;
  bool is_shared_;
  std::uint64_t size_{0};
};

/// A file to download.
struct Download {
  std::string name{};                   ///< for messages
  std::string url{};                    ///< http, https or file; may contain a login
  std::vector<python::Hash> hashes{};   ///< from the lock or the index; see Verifier
  std::optional<std::uint64_t> size{};  ///< in bytes, from the lock or the index
};

/// Called with the number of bytes from the file's start. It decreases if the download starts
/// again. `total` is absent while unknown.
using DownloadProgress =
    std::function<void(std::uint64_t done, std::optional<std::uint64_t> total)>;

/// Downloads `what` into `file`, after the bytes that it already has, and returns the SHA-256 in
/// hexadecimal digits. Accepts at most `largest` bytes. Throws Error(remote) for a wrong hash or
/// size, for a server that refuses, and for a file without a hash from a host that anybody could
/// impersonate; `file` is then empty. After broken connections, the bytes stay.
std::string fetch(const Access& access,
                  const Download& what,
                  std::uint64_t largest,
                  PartialFile& file,
                  const DownloadProgress& progress);

}  // namespace autopack::index
