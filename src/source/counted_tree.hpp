#pragma once

#include "source/tree.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

namespace autopack::source {

/// How much of a tree was read. Several threads may add.
class ReadCount {
public:
  /// Gets the files that were listed, and the bytes of contents that were read, since the
  /// beginning.
  using Report = std::function<void(std::uint64_t files, std::uint64_t bytes)>;

  /// Calls `report` now and then from now on, from the thread that reads; an empty one ends that.
  void set_report(Report report);

  void add(std::uint64_t files, std::uint64_t bytes);

private:
  std::mutex mutex_;
  Report report_{};
  std::uint64_t files_{0};
  std::uint64_t bytes_{0};
  std::uint64_t unreported_{0};  ///< as a number of files
};

/// Returns `tree`, which counts in `count` what is read of it.
std::shared_ptr<const Tree> counted(std::shared_ptr<const Tree> tree,
                                    std::shared_ptr<ReadCount> count);

}  // namespace autopack::source
