#include "local/line_buffer.hpp"

#include <algorithm>

namespace autopack::local {

namespace {

constexpr std::size_t longest_line{std::size_t{64} << 10U};

}  // namespace

void LineBuffer::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto piece = bytes.substr(0, std::min(end, longest_line - rest_.size()));
    rest_ += piece;
    const bool is_whole = piece.size() == end;
    bytes.remove_prefix(piece.size() + (is_whole ? 1 : 0));
    if (is_whole || rest_.size() == longest_line) {
      take_(rest_);
      rest_.clear();
    }
  }
}

void LineBuffer::finish() {
  if (!rest_.empty()) {
    take_(rest_);
    rest_.clear();
  }
}

}  // namespace autopack::local
