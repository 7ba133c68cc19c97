#include "base/byte_pipe.hpp"

#include "base/thread.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

namespace autopack {

namespace {

constexpr std::size_t pipe_size = std::size_t{1} << 20U;

/// Ends the writer's thread if the reader is gone.
struct Abandoned {};

}  // namespace

BytePipe::BytePipe(Write write) {
  buffer_.reserve(pipe_size);
  thread_ = start_thread<std::thread>([this, write = std::move(write)] {
    std::exception_ptr failure;
    try {
      write([this](std::string_view bytes) { put(bytes); });
    } catch (const Abandoned&) {
      return;
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock{mutex_};
    failure_ = failure;
    ended_ = true;
    changed_.notify_all();
  });
}

BytePipe::~BytePipe() {
  {
    const std::scoped_lock lock{mutex_};
    abandoned_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

std::size_t BytePipe::read(char* buffer, std::size_t size) {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [&] { return taken_ < buffer_.size() || ended_; });
  if (taken_ == buffer_.size()) {
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    return 0;
  }
  const std::size_t count = std::min(size, buffer_.size() - taken_);
  std::memcpy(buffer, buffer_.data() + taken_, count);
  taken_ += count;
  count_ += count;
  if (taken_ == buffer_.size()) {
    buffer_.clear();
    taken_ = 0;
    changed_.notify_all();
  }
  return count;
}

void BytePipe::put(std::string_view bytes) {
  std::unique_lock lock{mutex_};
  while (!bytes.empty()) {
    changed_.wait(lock, [&] { return buffer_.size() < pipe_size || abandoned_; });
    if (abandoned_) {
      throw Abandoned{};
    }
    const std::size_t count = std::min(bytes.size(), pipe_size - buffer_.size());
    buffer_ += bytes.substr(0, count);
    bytes.remove_prefix(count);
    changed_.notify_all();
  }
}

std::function<std::size_t(char* buffer, std::size_t size)> pulled(BytePipe::Write push) {
  return [pipe = std::make_shared<BytePipe>(std::move(push))](char* buffer, std::size_t size) {
    return pipe->read(buffer, size);
  };
}

}  // namespace autopack
