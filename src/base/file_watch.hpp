#pragma once

#include "base/descriptor.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>

namespace autopack {

/// Reports that something may have changed in directories. Uses inotify(7), or only a timer if the
/// system cannot watch that many directories. It reports neither what changed, nor whether it
/// certainly did.
class FileWatch {
public:
  /// With more than `most` directories, it reports a possible change every `period`.
  explicit FileWatch(std::size_t most = 8192,
                     std::chrono::milliseconds period = std::chrono::seconds{2});

  /// Watches these directories, not their subdirectories, and stops watching all others. Returns
  /// true if one is new; earlier changes in it are not reported.
  bool follow(const std::set<std::filesystem::path>& directories);

  /// Readable if something may have changed.
  int descriptor() const;

  /// Consumes the pending events and those that follow at once: an editor or a checkout changes
  /// several names.
  void settle() const;

  /// True if there is no room for watches, so the timer is in use.
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
