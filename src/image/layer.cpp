#include "image/layer.hpp"

#include "base/background.hpp"
#include "base/error.hpp"
#include "image/inflate.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace autopack::image {

namespace {

/// Small enough that a layer of code keeps several cores busy, and large enough to compress well.
constexpr std::size_t member_size = 1U << 18U;

/// The fastest level: for a code edit, the time to compress matters more than the last per cent of
/// size.
constexpr int compression_level = 1;

/// The gzip header (RFC 1952 section 2.3) of a copied deflate stream: no time, no name, unknown
/// system.
constexpr std::string_view member_header{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};

std::string little_endian(std::uint32_t value) {
  std::string bytes;
  for (unsigned shift = 0; shift < 32; shift += 8) {
    bytes += static_cast<char>(value >> shift & 0xffU);
  }
  return bytes;
}

std::string compress(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor{
      libdeflate_alloc_compressor(compression_level), &libdeflate_free_compressor};
  if (!compressor) {
    throw Error(ErrorKind::environment, "no memory to compress a layer");
  }
  const std::size_t bound = libdeflate_gzip_compress_bound(compressor.get(), bytes.size());
  // Most of it is never touched, so it is not initialised.
  const auto room =
      std::make_unique_for_overwrite<char[]>(bound);  // NOLINT(modernize-avoid-c-arrays)
  const std::size_t size =
      libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), room.get(), bound);
  return {room.get(), size};
}

/// Number of members that are compressed at once: all cores, as long as the thread that hashes them
/// in order keeps up.
std::size_t most_running() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
}

}  // namespace

struct LayerWriter::State {
  Take out;
  std::optional<LayerFacts> known{};
  Sha256 tar_hash{};
  Sha256 hash{};
  std::uint64_t size{0};      ///< bytes passed to `out`
  std::uint64_t tar_size{0};  ///< bytes of the tar
  std::string pending{};
  std::deque<Background<std::string>> running{};

  void emit(std::string_view bytes) {
    hash.update(bytes);
    size += bytes.size();
    out(bytes);
  }

  void hash_tar(std::string_view bytes) {
    if (!known) {
      tar_hash.update(bytes);
    }
  }

  void compress_pending() {
    running.push_back(
        in_background([piece = std::exchange(pending, {})] { return compress(piece); }));
  }

  /// Waits until at most `limit` members are being compressed.
  void drain(std::size_t limit) {
    while (running.size() > limit) {
      const std::string member = running.front().get();
      running.pop_front();
      emit(member);
    }
  }
};

LayerWriter::LayerWriter(Take out, std::optional<LayerFacts> known)
    : state_{std::make_unique<State>(State{.out = std::move(out), .known = std::move(known)})} {}

LayerWriter::~LayerWriter() = default;

void LayerWriter::write(std::string_view tar_bytes) {
  state_->hash_tar(tar_bytes);
  state_->tar_size += tar_bytes.size();
  while (!tar_bytes.empty()) {
    state_->pending.reserve(member_size);
    const std::size_t room = member_size - state_->pending.size();
    state_->pending += tar_bytes.substr(0, room);
    tar_bytes.remove_prefix(std::min(room, tar_bytes.size()));
    if (state_->pending.size() == member_size) {
      state_->compress_pending();
      state_->drain(most_running());
    }
  }
}

void LayerWriter::write_deflated(const Deflated& part) {
  if (!state_->pending.empty()) {
    state_->compress_pending();
  }
  state_->tar_size += part.size;
  state_->drain(0);
  state_->emit(member_header);
  std::uint64_t size = 0;
  std::uint32_t crc = 0;
  const Deflated::Take check = [&](std::string_view bytes) {
    state_->tar_hash.update(bytes);
    crc = crc32(crc, bytes);
    size += bytes.size();
  };
  part.read([&](std::string_view bytes) { state_->emit(bytes); },
            state_->known ? Deflated::Take{} : check);
  if (!state_->known && (size != part.size || crc != part.crc)) {
    throw Error(ErrorKind::internal, "a deflate stream does not have its stated size and checksum");
  }
  state_->emit(little_endian(part.crc) + little_endian(static_cast<std::uint32_t>(part.size)));
}

LayerFacts LayerWriter::finish() {
  const bool has_last = !state_->pending.empty() || state_->tar_size == 0;
  const std::string last = has_last ? compress(state_->pending) : std::string{};
  state_->drain(0);
  if (has_last) {
    state_->emit(last);
  }
  return {.digest = state_->hash.finish(),
          .diff_id = state_->known ? state_->known->diff_id : state_->tar_hash.finish(),
          .size = state_->size,
          .tar_size = state_->tar_size};
}

std::string compressed(std::string_view text) {
  std::string bytes;
  LayerWriter writer{[&](std::string_view piece) { bytes += piece; }};
  writer.write(text);
  writer.finish();
  return bytes;
}

}  // namespace autopack::image
