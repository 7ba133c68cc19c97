#pragma once

#include "image/source.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace autopack::image {

/// The files of an image: those of a directory, or the members of a tar.
class Members {
public:
  virtual ~Members() = default;
  /// Returns the size in bytes, or nothing if there is no such file.
  virtual std::optional<std::uint64_t> size(const std::string& name) const = 0;
  /// Opens an existing file at its start.
  virtual Reader open(const std::string& name) const = 0;

  /// Returns a small file as a whole, or nothing if there is no such file. Throws
  /// Error(environment) above 8 MiB.
  std::optional<std::string> text(const std::string& name) const;
};

/// Throws Error(usage) if `directory` is not a directory.
std::shared_ptr<const Members> open_directory(const std::filesystem::path& directory);
/// Opens a tar. One that is compressed with gzip or zstd is unpacked into an unnamed file in the
/// directory for temporary files. Throws Error(usage, environment) if `file` is not a tar.
std::shared_ptr<const Members> open_tar(const std::filesystem::path& file);

}  // namespace autopack::image
