#pragma once

#include "base/descriptor.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>

namespace autopack {

/// Tells that something may have changed in directories: by inotify(7), and by the clock alone
/// where the system has no room for that many watches. It says neither what nor whether for sure.
class FileWatch {
public:
  /// More directories than `most` are looked at again every `period`.
  explicit FileWatch(std::size_t most = 8192,
                     std::chrono::milliseconds period = std::chrono::seconds{2});

  /// Watches these directories and no others; what is below them is not watched. True when one is
  /// new: what changed in it before is not told.
  bool follow(const std::set<std::filesystem::path>& directories);

  /// Readable when something may have changed.
  int descriptor() const;

  /// Takes what was told, and what follows at once: an editor or a checkout changes several names.
  void settle() const;

  /// True when there is no room for watches, so that the clock tells.
  bool looks_by_clock() const { return static_cast<bool>(clock_); }

private:
  void look_by_clock();

  std::size_t most_;
  std::chrono::milliseconds period_;
  FileDescriptor events_;
  FileDescriptor clock_{-1};
  std::map<std::filesystem::path, int> watches_{};
};

}  // namespace autopack
