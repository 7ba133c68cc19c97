#pragma once

#include <unistd.h>

#include <utility>

namespace autopack {

/// Owns a file descriptor; negative: none.
class Descriptor {
public:
  explicit Descriptor(int value) : value_{value} {}

  ~Descriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }

  Descriptor(Descriptor&& other) noexcept : value_{other.release()} {}

  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }

  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return value_; }

  explicit operator bool() const { return value_ >= 0; }

  /// Gives the descriptor away.
  int release() { return std::exchange(value_, -1); }

  /// Closes now; what close(2) returned.
  int close() { return ::close(release()); }

private:
  int value_;
};

}  // namespace autopack
