#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace autopack {

/// Receives bytes in pieces.
using Take = std::function<void(std::string_view bytes)>;

/// A buffer of fixed size that one side writes and the other reads at its own speed. The writer
/// runs on its own thread.
class BytePipe {
public:
  using Write = std::function<void(const Take& out)>;

  explicit BytePipe(Write write);
  /// Stops a running writer and waits for it.
  ~BytePipe();
  BytePipe(const BytePipe&) = delete;
  BytePipe& operator=(const BytePipe&) = delete;

  /// Fills `buffer` and returns the number of bytes, 0 at the end. Throws what the writer threw.
  std::size_t read(char* buffer, std::size_t size);

  /// Returns the number of bytes read so far.
  std::uint64_t count() const { return count_; }

private:
  void put(std::string_view bytes);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string buffer_;
  std::size_t taken_{0};  ///< of buffer_
  bool ended_{false};
  bool abandoned_{false};
  std::exception_ptr failure_;
  std::uint64_t count_{0};
  std::thread thread_;  // last: it uses all other members
};

/// Returns a function that reads the output of `push` from a BytePipe. The pipe ends with the last
/// copy of the function.
std::function<std::size_t(char* buffer, std::size_t size)> pulled(BytePipe::Write push);

}  // namespace autopack
