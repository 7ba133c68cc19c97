#pragma once

#include "base/descriptor.hpp"
#include "base/file.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace autopack {

/// Removes what killed writers of `path` left beside it: what NewFile and NewDirectory name so and
/// no living process holds. Never throws.
void sweep_leftovers(const std::filesystem::path& path);

/// The name of something that is on its way to become `path`.
std::filesystem::path name_underway(const std::filesystem::path& path);

/// Marks what is under way as held by this process for as long as `file` is open; false when
/// somebody took it for a leftover.
bool hold(int file);

/// A file that comes into being as a whole: written beside its place, moved there by commit(), and
/// gone when it was not committed. Missing parent directories are created, those of a secret file
/// for this user alone. Throws Error(environment).
class NewFile {
public:
  explicit NewFile(std::filesystem::path path, FileMode mode = FileMode::normal);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Where it stands until it is committed.
  const std::string& path() const { return temporary_; }

  void write(std::string_view bytes);
  void commit();
  /// The same where nothing has the name yet; false, and nothing is changed, when something has.
  bool commit_if_absent();
  /// The same at another place of the same disk, whose name is known only now. Missing parent
  /// directories are created for this user alone.
  void commit_as(const std::filesystem::path& path);

private:
  std::filesystem::path path_;
  std::string temporary_;
  FileDescriptor file_{-1};
};

}  // namespace autopack
