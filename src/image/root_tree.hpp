#pragma once

#include "image/source.hpp"

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace autopack::image {

/// A directory, file, link or device of a root file system. Names that are hard links to one file
/// share it.
struct RootFile {
  unsigned mode{S_IFDIR | 0755U};  ///< type and permissions, as in stat(2)
  std::uint32_t user{0};
  std::uint32_t group{0};
  std::int64_t time{0};   ///< of the last change, in seconds since 1970
  std::uint64_t size{0};  ///< of a regular file
  std::string target{};   ///< of a symbolic link
  unsigned device_major{0};
  unsigned device_minor{0};
  std::map<std::string, std::string> attributes{};              ///< extended ones
  std::map<std::string, std::shared_ptr<RootFile>> children{};  ///< of a directory, by name
  unsigned links{0};        ///< names of a file, not of a directory
  std::uint64_t number{0};  ///< of a regular file: differs from that of every other one

  bool is_directory() const { return S_ISDIR(mode); }

  bool is_regular() const { return S_ISREG(mode); }
};

/// Receives the contents of a regular file, once. `content` is valid only during the call and need
/// not be read. The file may be missing in the finished tree.
using TakeRootFile = std::function<void(const RootFile& file, const Reader& content)>;

/// Limits of the root file system of an image.
struct RootLimits {
  std::uint64_t bytes{std::uint64_t{1} << 40U};  ///< of all files in all layers
  std::uint64_t entries{8'000'000};              ///< in all layers
  std::uint64_t text{std::uint64_t{1} << 30U};   ///< of names, targets and attributes
};

/// Merges the layers of `source` into the root file system that a container of the image has, as
/// overlayfs does: with owners, modes, times, hard links, devices, and those extended attributes
/// that a program can rely on (`security.capability` and `user.`). No name is empty, `.` or `..`,
/// or contains a slash. Reads each layer once, the highest first, and passes the contents of files
/// to `take` on the way; the same image gives the same calls. Throws Error(remote) if a layer does
/// not match the configuration, and Error(environment) if a layer cannot be unpacked.
std::shared_ptr<RootFile> merge_layers(const Source& source,
                                       const TakeRootFile& take,
                                       const RootLimits& limits = {});

/// Returns the file at `path` (relative), after following its links inside of `root`; null if there
/// is none.
std::shared_ptr<const RootFile> find_in_root(const std::shared_ptr<const RootFile>& root,
                                             const std::string& path);

}  // namespace autopack::image
