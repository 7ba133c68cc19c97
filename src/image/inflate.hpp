#pragma once

#include "image/source.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace autopack::image {

/// Extends the CRC-32 `so_far` (of gzip and zip) by `bytes`. The CRC-32 of no bytes is 0.
std::uint32_t crc32(std::uint32_t so_far, std::string_view bytes);

/// Inflates a raw deflate stream (RFC 1951) and passes the result to `take` in pieces, with bounded
/// memory. Returns false unless the stream has exactly `compressed_size` bytes and inflates to
/// exactly `size` bytes; `take` may have received some of them by then.
bool inflate(const Reader& compressed,
             std::uint64_t compressed_size,
             std::uint64_t size,
             const std::function<void(std::string_view bytes)>& take);

/// Returns the first `count` inflated bytes of a raw deflate stream; fewer if the stream is shorter
/// or damaged.
std::string inflate_beginning(const Reader& compressed, std::size_t count);

}  // namespace autopack::image
