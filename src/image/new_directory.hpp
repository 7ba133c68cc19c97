#pragma once

#include "base/descriptor.hpp"
#include "base/error.hpp"

#include <filesystem>
#include <string>

namespace autopack::image {

/// A directory that comes into being as a whole: filled beside its place, moved there by commit(),
/// and gone when it was not committed. Throws Error(environment).
class NewDirectory {
public:
  explicit NewDirectory(const std::filesystem::path& path);
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  /// Where it stands until it is committed.
  const std::filesystem::path& path() const { return temporary_; }

  /// False when something is there by now.
  bool commit();

private:
  Error cannot_make(const std::string& why) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_{};
  FileDescriptor file_{-1};
};

}  // namespace autopack::image
