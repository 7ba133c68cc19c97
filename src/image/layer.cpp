#include "image/layer.hpp"

#include "base/background.hpp"
#include "base/error.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace autopack::image {

namespace {

/// Small enough that a layer of code keeps several cores busy, large enough to compress as well.
constexpr std::size_t member_size = 1U << 18U;

/// The fastest level: on a code edit the time to compress counts, not the last per cent of size.
constexpr int compression_level = 1;

std::string compress(std::string_view bytes) {
  const std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor{
      libdeflate_alloc_compressor(compression_level), &libdeflate_free_compressor};
  if (!compressor) {
    throw Error(ErrorKind::environment, "no memory to compress a layer");
  }
  const std::size_t bound = libdeflate_gzip_compress_bound(compressor.get(), bytes.size());
  // Most of it is never touched, so nothing is written to it first.
  const auto room =
      std::make_unique_for_overwrite<char[]>(bound);  // NOLINT(modernize-avoid-c-arrays)
  const std::size_t size =
      libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(), room.get(), bound);
  return {room.get(), size};
}

/// Members under way at once: all cores, as far as the hashing of their order keeps up with them.
std::size_t most_running() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, 4U);
}

}  // namespace

struct LayerWriter::State {
  Take out;
  Sha256 tar_hash{};
  Sha256 hash{};
  LayerFacts facts{};
  std::string pending{};
  std::deque<Background<std::string>> running{};

  void emit(const std::string& member) {
    hash.update(member);
    facts.size += member.size();
    out(member);
  }

  /// Lets at most `limit` members be under way.
  void drain(std::size_t limit) {
    while (running.size() > limit) {
      const std::string member = running.front().get();
      running.pop_front();
      emit(member);
    }
  }
};

LayerWriter::LayerWriter(Take out)
    : state_{std::make_unique<State>(State{.out = std::move(out)})} {}

LayerWriter::~LayerWriter() = default;

void LayerWriter::write(std::string_view tar_bytes) {
  state_->tar_hash.update(tar_bytes);
  state_->facts.tar_size += tar_bytes.size();
  while (!tar_bytes.empty()) {
    state_->pending.reserve(member_size);
    const std::size_t room = member_size - state_->pending.size();
    state_->pending += tar_bytes.substr(0, room);
    tar_bytes.remove_prefix(std::min(room, tar_bytes.size()));
    if (state_->pending.size() == member_size) {
      state_->running.push_back(
          in_background([piece = std::exchange(state_->pending, {})] { return compress(piece); }));
      state_->drain(most_running());
    }
  }
}

LayerFacts LayerWriter::finish() {
  const bool has_last = !state_->pending.empty() || state_->facts.tar_size == 0;
  const std::string last = has_last ? compress(state_->pending) : std::string{};
  state_->drain(0);
  if (has_last) {
    state_->emit(last);
  }
  state_->facts.digest = state_->hash.finish();
  state_->facts.diff_id = state_->tar_hash.finish();
  return state_->facts;
}

}  // namespace autopack::image
