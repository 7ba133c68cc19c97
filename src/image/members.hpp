#pragma once

#include "image/source.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace autopack::image {

/// The files that hold an image: those of a directory, or the members of a tar.
class Members {
public:
  virtual ~Members() = default;
  /// Size in bytes; none when there is no such file.
  virtual std::optional<std::uint64_t> size(const std::string& name) const = 0;
  /// A file that is there, from its start.
  virtual Reader open(const std::string& name) const = 0;

  /// A whole small file; none when there is no such file. Throws Error(environment) above 8 MiB.
  std::optional<std::string> text(const std::string& name) const;
};

/// Throws Error(usage) when `directory` is none.
std::shared_ptr<const Members> open_directory(const std::filesystem::path& directory);
/// A tar, plain or compressed with gzip or zstd: then it is unpacked into a file without a name in
/// the directory for temporary files. Throws Error(usage, environment) when `file` is none.
std::shared_ptr<const Members> open_tar(const std::filesystem::path& file);

}  // namespace autopack::image
