#pragma once

#include "image/source.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace autopack::image {

/// CRC-32 as gzip and zip have it, of what `so_far` was made of and `bytes` behind it; 0 is that
/// of nothing.
std::uint32_t crc32(std::uint32_t so_far, std::string_view bytes);

/// Gives `take` the bytes that a raw deflate stream (RFC 1951) stands for, in pieces, with bounded
/// memory. `compressed` gives the stream. False when it is not a stream of exactly
/// `compressed_size` bytes that stands for exactly `size`; `take` may have had some by then.
bool inflate(const Reader& compressed,
             std::uint64_t compressed_size,
             std::uint64_t size,
             const std::function<void(std::string_view bytes)>& take);

/// The first `count` bytes of those that a raw deflate stream stands for; fewer when it stands for
/// fewer, or is damaged.
std::string inflate_beginning(const Reader& compressed, std::size_t count);

}  // namespace autopack::image
