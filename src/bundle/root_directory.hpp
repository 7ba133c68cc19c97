#pragma once

#include "base/descriptor.hpp"
#include "bundle/bundle.hpp"
#include "image/root_tree.hpp"

#include <filesystem>
#include <string>

namespace autopack::bundle {

/// A root file system that becomes a directory. Nothing is written outside of it, whatever the
/// image contains: files get their names only when all names are known.
class RootDirectory {
public:
  /// `directory` is new and empty.
  RootDirectory(const std::filesystem::path& directory, const Starter& starter);

  /// Keeps the contents of a file. As image::TakeRootFile.
  void take(const image::RootFile& file, const image::Reader& content);
  /// Returns the contents of a file that take() got. Not after finish().
  std::string read(const image::RootFile& file) const;
  /// Makes `rootfs` of what take() got.
  void finish(const image::RootFile& root);

private:
  static FileDescriptor make_directory(int directory,
                                       const std::string& name,
                                       const std::string& path);
  void fill(int directory, const image::RootFile& from, std::string& path);
  void add(int directory,
           const std::string& name,
           const image::RootFile& file,
           const std::string& path);
  void finish_directory(int directory, const image::RootFile& file, const std::string& path) const;
  void set_attributes(int file, const image::RootFile& facts, const std::string& path) const;

  Starter starter_;
  bool changes_owners_;
  std::filesystem::path directory_path_;
  FileDescriptor directory_;
  FileDescriptor contents_;
};

}  // namespace autopack::bundle
