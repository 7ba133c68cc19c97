#pragma once

#include "base/digest.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace autopack::image {

/// A finished layer as a manifest and a configuration name it.
struct LayerFacts {
  Digest digest{sha256("")};   ///< of the compressed bytes
  Digest diff_id{sha256("")};  ///< of the tar
  std::uint64_t size{0};       ///< compressed bytes
  std::uint64_t tar_size{0};   ///< bytes of the tar
};

/// Raise it when LayerWriter makes other bytes of the same tar: what is remembered of layers holds
/// no more then.
inline constexpr int compression_format{2};

/// Compresses a tar to gzip while it comes, on all cores for large ones, and hashes both sides in
/// the same pass. Memory stays below a few MiB per core. The bytes depend on the tar alone: every
/// 256 KiB of it become one gzip member (RFC 1952 section 2.2), whichever core compresses it.
class LayerWriter {
public:
  using Take = std::function<void(std::string_view bytes)>;

  /// `out` takes the compressed bytes in order, on the caller's thread.
  explicit LayerWriter(Take out);
  ~LayerWriter();
  LayerWriter(const LayerWriter&) = delete;
  LayerWriter& operator=(const LayerWriter&) = delete;

  void write(std::string_view tar_bytes);
  /// Ends the layer; nothing can be written after it.
  LayerFacts finish();

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace autopack::image
