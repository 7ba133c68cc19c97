#pragma once

#include "base/descriptor.hpp"
#include "base/file.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace autopack {

/// Removes what killed writers of `path` left beside it: names that NewFile and NewDirectory use
/// and that no living process holds. Never throws.
void sweep_leftovers(const std::filesystem::path& path);

/// Returns a temporary name for something that will become `path`.
std::filesystem::path name_underway(const std::filesystem::path& path);

/// Marks a temporary file as held by this process as long as `file` is open. Returns false if
/// another process removed it as a leftover.
bool hold(int file);

/// A file that appears as a whole: it is written beside its destination and moved there by
/// commit(). Without commit() it is removed. Missing parent directories are created; those of a
/// secret file are for this user alone. Throws Error(environment).
class NewFile {
public:
  explicit NewFile(std::filesystem::path path, FileMode mode = FileMode::normal);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Returns its temporary path, until commit().
  const std::string& path() const { return temporary_; }

  void write(std::string_view bytes);
  void commit();
  /// The same, but only if the name does not exist; otherwise returns false and changes nothing.
  bool commit_if_absent();
  /// The same at another path on the same file system, if the name is known only now. Missing
  /// parent directories are created for this user alone.
  void commit_as(const std::filesystem::path& path);

private:
  std::filesystem::path path_;
  std::string temporary_;
  FileDescriptor file_{-1};
};

}  // namespace autopack
