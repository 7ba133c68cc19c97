#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace autopack::image {

/// The facts about a finished layer that a manifest and a configuration need.
struct LayerFacts {
  Digest digest;              ///< of the compressed bytes
  Digest diff_id;             ///< of the tar
  std::uint64_t size{0};      ///< compressed bytes
  std::uint64_t tar_size{0};  ///< bytes of the tar

  bool operator==(const LayerFacts&) const = default;
};

/// Increase this if LayerWriter writes different bytes for the same tar. It invalidates the cached
/// facts about layers.
inline constexpr int compression_format{2};

/// A part of a tar that is already a deflate stream (RFC 1951) and is copied as it is.
struct Deflated {
  using Take = std::function<void(std::string_view bytes)>;

  std::uint64_t size{0};  ///< of the part
  std::uint32_t crc{0};   ///< CRC-32 of the part
  /// Passes the stream to `stream` and, unless `bytes` is empty, the inflated bytes to `bytes`, in
  /// the same pass.
  std::function<void(const Take& stream, const Take& bytes)> read{};
};

/// Compresses a tar to gzip while it is written, on several cores if it is large, and hashes both
/// sides in the same pass. Needs at most a few MiB per core. The bytes depend only on the tar:
/// every 256 KiB of it become one gzip member (RFC 1952 section 2.2), whichever core compresses it.
class LayerWriter {
public:
  using Take = std::function<void(std::string_view bytes)>;

  /// `out` gets the compressed bytes in order, on the caller's thread. With the layer's facts in
  /// `known`, it neither hashes the tar again nor decodes deflate streams.
  explicit LayerWriter(Take out, std::optional<LayerFacts> known = {});
  ~LayerWriter();
  LayerWriter(const LayerWriter&) = delete;
  LayerWriter& operator=(const LayerWriter&) = delete;

  void write(std::string_view tar_bytes);
  /// Writes the next part of the tar as a gzip member of its own. Throws Error(internal) if the
  /// size or the checksum of `part` is wrong.
  void write_deflated(const Deflated& part);
  /// Finishes the layer; no calls are allowed after it.
  LayerFacts finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns `text` as LayerWriter compresses it.
std::string compressed(std::string_view text);

}  // namespace autopack::image
