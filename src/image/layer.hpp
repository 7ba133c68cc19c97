#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// A finished layer as a manifest and a configuration name it.
struct LayerFacts {
  Digest digest;              ///< of the compressed bytes
  Digest diff_id;             ///< of the tar
  std::uint64_t size{0};      ///< compressed bytes
  std::uint64_t tar_size{0};  ///< bytes of the tar

  bool operator==(const LayerFacts&) const = default;
};

/// Raise it when LayerWriter makes other bytes of the same tar: what is remembered of layers holds
/// no more then.
inline constexpr int compression_format{2};

/// A part of a tar that is a deflate stream (RFC 1951) already, and is taken over as it is.
struct Deflated {
  using Take = std::function<void(std::string_view bytes)>;

  std::uint64_t size{0};  ///< of the part
  std::uint32_t crc{0};   ///< CRC-32 of the part
  /// Gives the stream and, unless `bytes` is empty, what it stands for, in the same pass.
  std::function<void(const Take& stream, const Take& bytes)> read{};
};

/// Compresses a tar to gzip while it comes, on all cores for large ones, and hashes both sides in
/// the same pass. Memory stays below a few MiB per core. The bytes depend on the tar alone: every
/// 256 KiB of it become one gzip member (RFC 1952 section 2.2), whichever core compresses it.
class LayerWriter {
public:
  using Take = std::function<void(std::string_view bytes)>;

  /// `out` takes the compressed bytes in order, on the caller's thread. With the facts of the
  /// layer `known`, the tar is not hashed again, and deflate streams are not decoded.
  explicit LayerWriter(Take out, std::optional<LayerFacts> known = {});
  ~LayerWriter();
  LayerWriter(const LayerWriter&) = delete;
  LayerWriter& operator=(const LayerWriter&) = delete;

  void write(std::string_view tar_bytes);
  /// The next part of the tar: a gzip member of its own. Throws Error(internal) when it is not of
  /// the size and checksum that it tells of.
  void write_deflated(const Deflated& part);
  /// Ends the layer; nothing can be written after it.
  LayerFacts finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// `text` as LayerWriter compresses it.
std::string compressed(std::string_view text);

}  // namespace autopack::image
