#include "base/thread.hpp"
#include "registry/client.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

namespace autopack::registry {

namespace {

constexpr std::size_t pipe_size = std::size_t{2} << 20U;

/// Thrown into a download whose reader went away.
struct Abandoned {};

/// A download in a thread of its own, read from here: the one side pushes, the other pulls.
class Pipe {
public:
  Pipe(Repository& from, const image::Descriptor& blob)
      : thread_{start_thread([this, &from, blob] { download(from, blob); })} {}

  ~Pipe() {
    const std::scoped_lock lock{mutex_};
    abandoned_ = true;
    changed_.notify_all();
  }

  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  std::size_t read(char* buffer, std::size_t size) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return ended_ || at_ < bytes_.size(); });
    const std::size_t count = std::min(size, bytes_.size() - at_);
    if (count == 0 && failure_) {
      std::rethrow_exception(failure_);
    }
    std::memcpy(buffer, bytes_.data() + at_, count);
    at_ += count;
    if (at_ == bytes_.size()) {
      bytes_.clear();
      at_ = 0;
      changed_.notify_all();
    }
    return count;
  }

private:
  void download(Repository& from, const image::Descriptor& blob) {
    std::exception_ptr failure;
    try {
      from.fetch_blob(blob, [this](std::string_view bytes) { write(bytes); });
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock{mutex_};
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  }

  void write(std::string_view bytes) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return abandoned_ || bytes_.size() < pipe_size; });
    if (abandoned_) {
      throw Abandoned{};
    }
    bytes_ += bytes;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string bytes_;
  std::size_t at_{0};
  bool ended_{false};
  bool abandoned_{false};
  std::exception_ptr failure_;
  std::jthread thread_;  // last, so that it is joined before what it uses is gone
};

}  // namespace

BlobSource blob_source(Repository& from, const image::Descriptor& blob) {
  return [&from, blob]() -> Reader {
    return [pipe = std::make_shared<Pipe>(from, blob)](char* buffer, std::size_t size) {
      return pipe->read(buffer, size);
    };
  };
}

}  // namespace autopack::registry
