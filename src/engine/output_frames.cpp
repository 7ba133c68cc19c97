#include "engine/output_frames.hpp"

#include "base/error.hpp"

#include <algorithm>

namespace autopack::engine {

namespace {

constexpr std::size_t header_size = 8;

}  // namespace

OutputFrames::OutputFrames(Take output, Take errors)
    : output_{std::move(output)}, errors_{std::move(errors)} {}

void OutputFrames::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (left_ > 0) {
      const auto piece = bytes.substr(0, std::min(left_, bytes.size()));
      (to_errors_ ? errors_ : output_)(piece);
      left_ -= piece.size();
      bytes.remove_prefix(piece.size());
      continue;
    }
    const auto piece = bytes.substr(0, header_size - header_.size());
    header_ += piece;
    bytes.remove_prefix(piece.size());
    if (header_.size() == header_size) {
      if (header_[0] < 0 || header_[0] > 2) {
        throw Error(ErrorKind::remote, "the engine's output stream cannot be understood");
      }
      to_errors_ = header_[0] == 2;
      for (std::size_t i = 4; i < header_size; ++i) {
        left_ = (left_ << 8U) | static_cast<unsigned char>(header_[i]);
      }
      header_.clear();
    }
  }
}

}  // namespace autopack::engine
