#pragma once

#include <termios.h>

#include <optional>

namespace autopack {

/// Puts a terminal into raw mode, and restores it on destruction; does nothing if the descriptor is
/// not a terminal.
class RawTerminal {
public:
  explicit RawTerminal(int descriptor);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

private:
  int descriptor_;
  std::optional<termios> before_{};
};

struct TerminalSize {
  int rows{0};
  int columns{0};
};

/// Returns nothing if `descriptor` is not a terminal.
std::optional<TerminalSize> terminal_size(int descriptor);

/// Returns the size of the terminal of standard input or output; nothing if neither is one.
std::optional<TerminalSize> users_terminal_size();

}  // namespace autopack
