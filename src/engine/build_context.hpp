#pragma once

#include "engine/docker.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace autopack::engine {

/// Where the Dockerfile stands in the context: `request`'s own when the context holds it unchanged,
/// else a fixed name of autopack's.
std::string dockerfile_path(const BuildRequest& request);

/// Writes the context of `request` as a tar: every file that its plan copies, its extra files, the
/// Dockerfile. The same request gives the same bytes.
void write_context(const BuildRequest& request, const std::function<void(std::string_view)>& out);

/// Bytes that one side writes and the other reads at its own pace, through a buffer of fixed size.
/// The writer runs on a thread of its own.
class BytePipe {
public:
  using Write = std::function<void(const std::function<void(std::string_view)>& out)>;

  explicit BytePipe(Write write);
  /// Makes a writer that is still at work stop, and waits for it.
  ~BytePipe();
  BytePipe(const BytePipe&) = delete;
  BytePipe& operator=(const BytePipe&) = delete;

  /// Fills `buffer`; the bytes written, 0 at the end. Throws what the writer threw.
  std::size_t read(char* buffer, std::size_t size);

  /// Bytes read so far.
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
  std::thread thread_;  // last: it uses all the others
};

}  // namespace autopack::engine
