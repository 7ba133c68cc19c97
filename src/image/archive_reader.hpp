#pragma once

#include "image/source.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// The header of one tar entry.
struct ArchiveEntry {
  enum class Type { file, directory, symlink, hard_link, other };

  std::string path{};  ///< as the tar spells it
  Type type{Type::file};
  unsigned mode{0};
  std::uint64_t size{0};
  std::string link{};     ///< target of a link
  std::int64_t time{0};   ///< of its last change, in seconds since 1970
  std::uint64_t data{0};  ///< offset of its bytes in the uncompressed tar
  std::int64_t user{0};   ///< the owner's ID
  std::int64_t group{0};
  unsigned special{0};  ///< of Type::other: S_IFCHR, S_IFBLK or S_IFIFO; 0: something else
  std::uint64_t device_major{0};
  std::uint64_t device_minor{0};
  std::map<std::string, std::string> attributes{};  ///< extended ones
};

/// Receives an entry and, for a file, its contents. `content` is valid only during the call, and
/// may be left unread.
using TakeContent = std::function<void(const ArchiveEntry& entry, const Reader& content)>;

/// Calls `take` for each entry of the tar from `reader`, which may be compressed with gzip or zstd,
/// and reads to the end. Returns the digest of the uncompressed tar. Throws Error(environment)
/// naming `what` if the data is not such a tar.
Digest read_contents(const Reader& reader, const std::string& what, const TakeContent& take);

/// Like read_contents, for an uncompressed tar and without a digest.
void read_plain_contents(const Reader& reader, const std::string& what, const TakeContent& take);

/// Returns the file of an uncompressed tar whose path ends with `name`, and reads to the end.
/// Returns nothing if there is no such file or it is larger than `limit` bytes.
std::optional<std::string> read_member(const Reader& reader,
                                       const std::string& what,
                                       std::string_view name,
                                       std::size_t limit);

/// Calls `take` for each entry of a file that is an uncompressed tar, without reading the contents.
/// Throws as read_contents does.
void index_archive(int descriptor,
                   const std::string& what,
                   const std::function<void(const ArchiveEntry&)>& take);

/// Calls `take` with the decompressed contents of a file in gzip or zstd format. Throws
/// Error(environment) naming `what`.
void decompress(int descriptor,
                const std::string& what,
                const std::function<void(std::string_view)>& take);

/// Returns `bytes`, decompressed if necessary. Throws Error(environment) if they are damaged or
/// decompress to more than `limit` bytes.
std::string decompressed(std::string_view bytes, std::size_t limit);

/// Returns `path` without leading `./` and `/`, and without a trailing slash; empty for the root.
std::string normal_path(std::string_view path);

}  // namespace autopack::image
