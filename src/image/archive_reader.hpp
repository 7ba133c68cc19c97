#pragma once

#include "image/source.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// What a tar's header says of one entry.
struct ArchiveEntry {
  enum class Type { file, directory, symlink, hard_link, other };

  std::string path{};  ///< as it is written
  Type type{Type::file};
  unsigned mode{0};
  std::uint64_t size{0};
  std::string link{};     ///< target of a link
  std::uint64_t data{0};  ///< where its bytes begin in the tar, before compression
};

/// Tells `take` each entry of the tar that `reader` gives, plain or compressed with gzip or zstd,
/// and reads to the end. The digest of the plain tar. Throws Error(environment) naming `what` when
/// it is no such tar.
Digest read_archive(const Reader& reader,
                    const std::string& what,
                    const std::function<void(const ArchiveEntry&)>& take);

/// An entry, and what it holds when it is a file: to be read, if at all, before the function
/// returns.
using TakeContent = std::function<void(const ArchiveEntry& entry, const Reader& content)>;

/// read_archive with the contents of files.
Digest read_contents(const Reader& reader, const std::string& what, const TakeContent& take);

/// The same for a tar that is not compressed and whose digest nobody asks for.
void read_plain_contents(const Reader& reader, const std::string& what, const TakeContent& take);

/// The file of such a tar whose path ends with `name`, and reads to the end. None when there is
/// none or it is larger than `limit` bytes.
std::optional<std::string> read_member(const Reader& reader,
                                       const std::string& what,
                                       std::string_view name,
                                       std::size_t limit);

/// As read_archive for a file that is a plain tar: the contents of its entries are passed over
/// unread.
void index_archive(int descriptor,
                   const std::string& what,
                   const std::function<void(const ArchiveEntry&)>& take);

/// Tells `take` what a file holds that is compressed with gzip or zstd. Throws Error(environment)
/// naming `what`.
void decompress(int descriptor,
                const std::string& what,
                const std::function<void(std::string_view)>& take);

/// What `bytes` hold, compressed or not. Throws Error(environment) when they are damaged, or hold
/// more than `limit` bytes.
std::string decompressed(std::string_view bytes, std::size_t limit);

/// `path` without leading `./` and `/`, and without a slash at its end; empty for the root.
std::string normal_path(std::string_view path);

}  // namespace autopack::image
