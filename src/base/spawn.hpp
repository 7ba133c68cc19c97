#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace autopack {

/// The signal settings of a new program: none blocked and none ignored, whichever thread starts it
/// and whatever this process ignores. An ignored SIGHUP stays ignored: under nohup(1), the programs
/// that a run needs must continue with it.
class SpawnAttributes {
public:
  /// With `own_session`, no signal of the terminal reaches the program.
  explicit SpawnAttributes(bool own_session = false);
  ~SpawnAttributes();
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

private:
  posix_spawnattr_t attributes_{};
};

/// Returns `words` as posix_spawn and execve take them, which do not modify them; null at the end.
/// `words` must outlive it.
std::vector<char*> pointers_to(const std::vector<std::string>& words);

}  // namespace autopack
