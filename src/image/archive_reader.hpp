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

/// `path` without leading `./` and `/`, and without a slash at its end; empty for the root.
std::string normal_path(std::string_view path);

}  // namespace autopack::image
