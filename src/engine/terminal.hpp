#pragma once

#include <termios.h>

#include <csignal>
#include <initializer_list>
#include <optional>

namespace autopack::engine {

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
  std::optional<termios> before_;
};

struct TerminalSize {
  int rows{0};
  int columns{0};
};

/// Returns nothing if `descriptor` is not a terminal.
std::optional<TerminalSize> terminal_size(int descriptor);

/// Receives signals as data instead of letting them act, during its lifetime.
class SignalReader {
public:
  SignalReader(std::initializer_list<int> signals);
  ~SignalReader();
  SignalReader(const SignalReader&) = delete;
  SignalReader& operator=(const SignalReader&) = delete;

  /// Readable if a signal is pending.
  int descriptor() const { return descriptor_; }

  /// Returns the next signal; nothing if none is pending.
  std::optional<int> next() const;

private:
  sigset_t before_{};
  int descriptor_{-1};
};

}  // namespace autopack::engine
