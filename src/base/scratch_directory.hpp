#pragma once

#include <filesystem>
#include <string>

namespace autopack {

/// A new directory for this user alone, removed with all its files at the end.
class ScratchDirectory {
public:
  /// `purpose` becomes a part of its name. Throws Error(environment).
  explicit ScratchDirectory(const std::string& purpose);
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

}  // namespace autopack
