#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

namespace autopack {

/// Starts threads that wait for tasks, until there are `count`. No thread can be started while a
/// library is being opened: glibc's pthread_create waits until that is done.
void start_helpers(std::size_t count);

/// Runs `task`, which must not throw, in a waiting thread, or in a new one if none is waiting.
void give_to_helper(std::function<void()> task);

/// The result of a task in another thread. Like std::async's own future, the destructor waits for
/// it.
template <class Result>
class Background {
public:
  Background() = default;

  explicit Background(std::future<Result> future) : future_{std::move(future)} {}

  Background(Background&&) noexcept = default;

  Background& operator=(Background&& other) noexcept {
    wait();
    future_ = std::move(other.future_);
    return *this;
  }

  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  ~Background() { wait(); }

  bool valid() const { return future_.valid(); }

  /// Waits for the result. Call it once; throws what the task threw.
  Result get() { return future_.get(); }

private:
  void wait() {
    if (future_.valid()) {
      future_.wait();
    }
  }

  std::future<Result> future_{};
};

/// Runs `task` in a helper thread. The task is destroyed before its result is available.
template <class Task>
Background<std::invoke_result_t<Task&>> in_background(Task task) {
  using Result = std::invoke_result_t<Task&>;
  const auto promise = std::make_shared<std::promise<Result>>();
  auto result = promise->get_future();  // waited for only after a helper has the task
  give_to_helper([promise, held = std::make_shared<Task>(std::move(task))]() mutable {
    try {
      if constexpr (std::is_void_v<Result>) {
        (*held)();
        held.reset();
        promise->set_value();
      } else {
        Result value = (*held)();
        held.reset();
        promise->set_value(std::move(value));
      }
    } catch (...) {
      held.reset();
      promise->set_exception(std::current_exception());
    }
  });
  return Background<Result>{std::move(result)};
}

}  // namespace autopack
