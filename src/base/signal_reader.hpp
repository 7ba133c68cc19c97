#pragma once

#include <csignal>
#include <initializer_list>
#include <optional>

namespace autopack {

/// Receives signals as data instead of letting them act, during its lifetime.
class SignalReader {
public:
  /// Throws Error(environment).
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

}  // namespace autopack
