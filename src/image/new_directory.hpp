#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <filesystem>
#include <string>

namespace autopack::image {

/// A directory that appears as a whole: it is filled beside its destination and moved there by
/// commit(). Without commit() it is removed. Throws Error(environment).
class NewDirectory {
public:
  explicit NewDirectory(const std::filesystem::path& path);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  /// Its temporary path, until commit().
  const std::filesystem::path& path() const { return temporary_; }

  /// Returns false if the destination exists by now.
  bool commit();

private:
  Error cannot_make(const std::string& why) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_{};
  FileDescriptor file_{-1};
};

}  // namespace autopack::image
