#include "base/background.hpp"

#include "base/thread.hpp"

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace autopack {

namespace {

/// Blocks all signals in this thread during its lifetime. Threads that are started meanwhile get
/// none: signals are for the thread that waits for them.
class BlockedSignals {
public:
  BlockedSignals() {
    sigset_t all{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }

  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

private:
  sigset_t before_{};
};

class Helpers {
public:
  ~Helpers() {
    {
      const std::lock_guard lock{mutex_};
      stop_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) {
      thread.join();
    }
  }

  Helpers() = default;
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  void start(std::size_t count) {
    const std::lock_guard lock{mutex_};
    try {
      while (threads_.size() < count) {
        add_thread();
      }
    } catch (const Error&) {
      return;  // give_to_helper() reports the failure when a thread is needed
    }
  }

  void take(std::function<void()> task) {
    {
      const std::lock_guard lock{mutex_};
      if (free_ == 0) {
        add_thread();
      }
      --free_;
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
  }

private:
  void add_thread() {
    const BlockedSignals blocked;
    threads_.push_back(start_thread<std::thread>([this] { work(); }));
    ++free_;
  }

  void work() {
    std::unique_lock lock{mutex_};
    for (;;) {
      changed_.wait(lock, [this] { return stop_ || !tasks_.empty(); });
      if (tasks_.empty()) {
        return;
      }
      auto task = std::move(tasks_.back());
      tasks_.pop_back();
      lock.unlock();
      task();
      task = nullptr;
      lock.lock();
      ++free_;
    }
  }

  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::vector<std::function<void()>> tasks_{};
  std::vector<std::thread> threads_{};
  std::size_t free_{0};
  bool stop_{false};
};

/// The only global state that is not passed down: listing, packing and sending share these threads,
/// and neither a tree nor a layer should know who counts them.
Helpers& helpers() {
  static Helpers all;
  return all;
}

}  // namespace

void start_helpers(std::size_t count) {
  helpers().start(count);
}

void give_to_helper(std::function<void()> task) {
  helpers().take(std::move(task));
}

}  // namespace autopack
