#pragma once

#include <termios.h>

#include <csignal>
#include <initializer_list>
#include <optional>

namespace autopack::engine {

/// Puts a terminal into raw mode, and back when it goes; nothing for a descriptor that is none.
class RawTerminal {
public:
  explicit RawTerminal(int descriptor);
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

private:
  int descriptor_;
  std::optional<termios> before_;
};

struct TerminalSize {
  int rows{0};
  int columns{0};
};

/// None when `descriptor` is no terminal.
std::optional<TerminalSize> terminal_size(int descriptor);

/// Takes signals as data instead of letting them act, as long as it lives.
class SignalReader {
public:
  SignalReader(std::initializer_list<int> signals);
  ~SignalReader();
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;

  /// Readable when a signal waits.
  int descriptor() const { return descriptor_; }

  /// The next signal; none when none waits.
  std::optional<int> next() const;

private:
  sigset_t before_{};
  int descriptor_{-1};
};

}  // namespace autopack::engine
