#pragma once

#include "base/descriptor.hpp"
#include "base/file.hpp"

#include <filesystem>
#include <string>
#include <string_view>

namespace autopack {

/// A file that comes into being as a whole: written beside its place, moved there by commit(), and
/// gone when it was not committed. Missing parent directories are made. Throws Error(environment).
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

private:
  std::filesystem::path path_;
  std::string temporary_;
  Descriptor file_{-1};
};

}  // namespace autopack
