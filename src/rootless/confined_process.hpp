#pragma once

#include "base/descriptor.hpp"

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace autopack::rootless {

/// Directories that become one root file system, with overlayfs.
struct Overlay {
  std::filesystem::path directory{};  ///< of the layers
  std::vector<std::string> layers{};  ///< relative to it, the highest first
  /// Of this run, beside `directory`: gets the changes, and `root` appears in it.
  std::filesystem::path run{};

  std::filesystem::path root() const { return run / "root"; }
};

/// What a program sees of /sys/fs/cgroup. Nothing: crun refuses a machine with both versions.
/// Read-only: runc ignores limits that it may not set.
enum class Cgroups { as_they_are, hidden, read_only };

/// A program in new user, mount and process namespaces, in which this user is root.
struct Confined {
  std::vector<std::string> words{};  ///< the first one is a path
  std::vector<std::string> environment{};
  std::optional<Overlay> overlay{};
  Cgroups cgroups{Cgroups::as_they_are};
  int input{-1};  ///< descriptors; -1: /dev/null
  int output{-1};
  int errors{-1};
  bool has_terminal{false};  ///< `input` is its controlling terminal
  int inherited{-1};         ///< a descriptor that it keeps; -1: none
};

/// A started program. It is killed with everything that it started when its end or this process
/// ends.
class ConfinedProcess {
public:
  /// Throws Error(environment) with the failed step, and how to permit it.
  explicit ConfinedProcess(const Confined& confined);
  /// Kills it.
  ~ConfinedProcess();
  ConfinedProcess(const ConfinedProcess&) = delete;
  ConfinedProcess& operator=(const ConfinedProcess&) = delete;

  /// Readable once it has ended.
  int descriptor() const { return descriptor_.get(); }

  /// Sends a signal to its children, or kills it if there are none yet.
  void signal_children(int signal) const;
  void kill() const;
  /// Waits for its end; returns its exit status, 128 + N for signal N.
  int wait();

private:
  pid_t pid_{-1};
  FileDescriptor descriptor_{-1};
};

}  // namespace autopack::rootless
