#pragma once

#include <string>
#include <string_view>

namespace autopack::cli {

/// A program's output as it may go to a terminal. Lines, colours and what progress bars need pass;
/// every other control sequence (title, clipboard, clearing the screen) becomes visible text.
class TerminalText {
public:
  /// What may be shown now of `bytes`, which may be cut anywhere: the beginning of a sequence or a
  /// character waits for its end.
  std::string take(std::string_view bytes);

private:
  std::string waiting_{};
};

}  // namespace autopack::cli
