#pragma once

#include <unistd.h>

#include <utility>

namespace autopack {

/// Owns a file descriptor; a negative value means none.
class FileDescriptor {
public:
  explicit FileDescriptor(int value) : value_{value} {}

  ~FileDescriptor() {
    if (value_ >= 0) {
      ::close(value_);
    }
  }

  FileDescriptor(FileDescriptor&& other) noexcept : value_{other.release()} {}

  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }

  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return value_; }

  explicit operator bool() const { return value_ >= 0; }

  /// Gives up ownership.
  int release() { return std::exchange(value_, -1); }

  /// Closes now; returns the result of close(2).
  int close() { return ::close(release()); }

private:
  int value_;
};

}  // namespace autopack
