#include "base/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

namespace autopack {

RawTerminal::RawTerminal(int descriptor) : descriptor_{descriptor} {
  termios current{};
  if (descriptor < 0 || ::tcgetattr(descriptor, &current) != 0) {
    return;
  }
  before_ = current;
  ::cfmakeraw(&current);
  ::tcsetattr(descriptor_, TCSADRAIN, &current);
}

RawTerminal::~RawTerminal() {
  if (before_) {
    ::tcsetattr(descriptor_, TCSADRAIN, &*before_);
  }
}

std::optional<TerminalSize> terminal_size(int descriptor) {
  winsize size{};
  if (descriptor < 0 || ::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_row == 0) {
    return std::nullopt;
  }
  return TerminalSize{.rows = size.ws_row, .columns = size.ws_col};
}

std::optional<TerminalSize> users_terminal_size() {
  const auto size = terminal_size(STDIN_FILENO);
  return size ? size : terminal_size(STDOUT_FILENO);
}

}  // namespace autopack
