#pragma once

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <type_traits>
#include <utility>

namespace autopack {

/// Starts threads that wait for tasks, until there are `count`. While a library is opened nobody
/// can start one: glibc's pthread_create waits until it is done.
void start_helpers(std::size_t count);

/// Runs `task`, which throws nothing, in a thread that waits for one; in a new one where none does.
void give_to_helper(std::function<void()> task);

/// What another thread works out. As with std::async's own future, the destructor waits for it.
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

  /// Waits. Once only; throws what the task threw.
  Result get() { return future_.get(); }

private:
  void wait() {
    if (future_.valid()) {
      future_.wait();
    }
  }

  std::future<Result> future_{};
};

/// Runs `task` in a helper.
template <class Task>
Background<std::invoke_result_t<Task&>> in_background(Task task) {
  using Result = std::invoke_result_t<Task&>;
  const auto packaged = std::make_shared<std::packaged_task<Result()>>(std::move(task));
  Background<Result> result{packaged->get_future()};
  give_to_helper([packaged] { (*packaged)(); });
  return result;
}

}  // namespace autopack
