#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace autopack::local {

/// Assembles the lines of a program's output from arbitrary pieces.
class LineBuffer {
public:
  explicit LineBuffer(std::function<void(std::string_view line)> take) : take_{std::move(take)} {}

  /// Splits a line of more than 64 KiB.
  void feed(std::string_view bytes);
  /// Emits the last line, if the output ended without a line feed.
  void finish();

private:
  std::function<void(std::string_view line)> take_;
  std::string rest_{};
};

}  // namespace autopack::local
