#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace autopack::local {

/// The lines of a program's output, out of pieces cut anywhere.
class LineBuffer {
public:
  explicit LineBuffer(std::function<void(std::string_view line)> take) : take_{std::move(take)} {}

  /// A line of more than 64 KiB is taken in pieces.
  void feed(std::string_view bytes);
  /// The last line, when the output ended without a line feed.
  void finish();

private:
  std::function<void(std::string_view line)> take_;
  std::string rest_{};
};

}  // namespace autopack::local
