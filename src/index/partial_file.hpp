#pragma once

#include "base/descriptor.hpp"
#include "base/report.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::index {

/// A file that is being downloaded, held by one thread of one process at a time. What was written
/// stays for whoever goes on with it. All throw Error(environment) when the disk refuses.
class PartialFile {
public:
  /// How long to wait for a holder whose file does not grow.
  struct Patience {
    std::chrono::milliseconds time{30'000};
    const Cancellation* cancellation{nullptr};  ///< may be null
  };

  /// Waits for whoever holds `path`; none when `is_done` says meanwhile that it is no longer
  /// needed. After a holder who makes no headway, and where files cannot be locked, it is a file of
  /// its own, which nobody else goes on with.
  static std::optional<PartialFile> take(const std::filesystem::path& path,
                                         const std::function<bool()>& is_done,
                                         const Patience& patience);

  PartialFile(PartialFile&& other) noexcept;
  PartialFile& operator=(PartialFile&&) = delete;
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;
  ~PartialFile();

  /// Bytes so far.
  std::uint64_t size() const { return size_; }

  /// Calls `sink` with all bytes so far, in pieces.
  void read(const std::function<void(std::string_view)>& sink) const;
  void append(std::string_view bytes);
  /// Starts afresh.
  void clear();
  /// Moves it to `path`, whose parents are made.
  void commit(const std::filesystem::path& path);

private:
  PartialFile(std::filesystem::path path, FileDescriptor file, bool is_shared);

  std::filesystem::path path_;
  FileDescriptor file_;
  bool is_shared_;
  std::uint64_t size_{0};
};

}  // namespace autopack::index
