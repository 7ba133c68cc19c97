#include "base/background.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/thread.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace autopack::base_background_test {

TEST_CASE("background tasks are joined, and their exceptions are rethrown") {
  auto number = in_background([] { return 7; });
  CHECK(number.valid());
  CHECK(number.get() == 7);
  CHECK_FALSE(number.valid());
  auto failing = in_background([]() -> int { throw Error(ErrorKind::remote, "no answer"); });
  CHECK_THROWS_WITH_AS(failing.get(), "no answer", Error);
  std::atomic<bool> done{false};
  {
    const auto unasked = in_background([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
      done = true;
    });
  }
  CHECK(done);
}

TEST_CASE("another task takes the place of one only when that has ended") {
  std::atomic<bool> first_done{false};
  auto task = in_background([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    first_done = true;
    return std::string{"first"};
  });
  task = in_background([] { return std::string{"second"}; });
  CHECK(first_done);
  CHECK(task.get() == "second");
}

TEST_CASE("objects of a task are destroyed before its result is available") {
  for (int i = 0; i < 200; ++i) {
    auto held = std::make_shared<int>(i);
    const std::weak_ptr<int> watched = held;
    auto task = in_background([held = std::move(held)] { return *held; });
    CHECK(task.get() == i);
    CHECK(watched.expired());
  }
}

TEST_CASE("there are as many helpers as tasks at once") {
  start_helpers(2);
  std::atomic<int> met{0};
  std::vector<Background<void>> tasks;
  for (int i = 0; i < 8; ++i) {
    // No task ends before all have started.
    tasks.push_back(in_background([&] {
      ++met;
      while (met < 8) {
        std::this_thread::yield();
      }
    }));
  }
  for (auto& task : tasks) {
    task.get();
  }
  CHECK(met == 8);
}

TEST_CASE("a helper takes no signal from the thread that waits for it") {
  auto is_blocked = in_background([] {
    sigset_t blocked{};
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    return sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGINT) == 1;
  });
  CHECK(is_blocked.get());
  sigset_t own{};
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  CHECK(sigismember(&own, SIGTERM) == 0);
}

TEST_CASE("concurrent tasks are at most as many as requested, and each runs once") {
  std::vector<std::atomic<int>> runs(100);
  std::atomic<int> now{0};
  std::atomic<int> most{0};
  in_parallel(runs.size(), 3, [&](std::size_t i) {
    const int together = ++now;
    int seen = most;
    while (seen < together && !most.compare_exchange_weak(seen, together)) {
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{1});
    ++runs[i];
    --now;
  });
  CHECK(most >= 2);
  CHECK(most <= 3);
  for (const auto& run : runs) {
    CHECK(run == 1);
  }
  in_parallel(0, 3, [](std::size_t) { FAIL("there is none"); });
}

TEST_CASE("the first failure ends tasks side by side") {
  std::atomic<int> begun{0};
  CHECK_THROWS_WITH_AS(in_parallel(1000, 4,
                                   [&](std::size_t i) {
                                     ++begun;
                                     std::this_thread::sleep_for(std::chrono::milliseconds{1});
                                     if (i == 3) {
                                       throw Error(ErrorKind::remote, "no answer");
                                     }
                                   }),
                       "no answer", Error);
  CHECK(begun < 1000);
}

TEST_CASE("a failure ends the tasks that look for it, and is what is thrown") {
  std::atomic<int> begun{0};
  std::atomic<bool> ended_early{false};
  CHECK_THROWS_WITH_AS(in_parallel(2, 2,
                                   [&](std::size_t i, const Stop& stop) {
                                     ++begun;
                                     while (begun < 2) {
                                       std::this_thread::yield();
                                     }
                                     if (i == 1) {
                                       throw Error(ErrorKind::remote, "no answer");
                                     }
                                     try {
                                       for (;;) {
                                         stop.throw_if_requested();
                                         std::this_thread::yield();
                                       }
                                     } catch (const Error&) {
                                       FAIL("an Error, which tasks handle");
                                     } catch (...) {
                                       ended_early = true;
                                       throw;
                                     }
                                   }),
                       "no answer", Error);
  CHECK(ended_early);
}

TEST_CASE("a pause ends with the run") {
  Cancellation cancellation;
  sleep_unless_cancelled(std::chrono::milliseconds{1}, &cancellation);
  cancellation.requested = true;
  CHECK_THROWS_WITH_AS(sleep_unless_cancelled(std::chrono::hours{1}, &cancellation), "interrupted",
                       Interrupted);
}

}  // namespace autopack::base_background_test
