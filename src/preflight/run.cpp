#include "base/thread.hpp"
#include "preflight/checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

// Each check asks one service and reports one kind of failure. They run side by side within one
// deadline; a check that does not finish, or that may not ask, is unknown and blocks nothing.
namespace autopack::preflight {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

/// A signal handler cannot notify a condition variable, so we poll.
constexpr milliseconds look_at_user{50};

std::string text_of(const Error& error) {
  return error.causes().empty() ? error.message()
                                : fmt::format("{}: {}", error.message(), error.causes().front());
}

Problems outcome_of(const Check& check, milliseconds limit) {
  try {
    return check.run();
  } catch (const Interrupted&) {
    return {unknown(
        check.name, check.what,
        fmt::format("no answer within {} s", std::chrono::duration<double>{limit}.count()))};
  } catch (const Error& error) {
    return {unknown(check.name, check.what, text_of(error), error.hints())};
  } catch (const std::exception& error) {
    return {unknown(check.name, check.what, error.what())};
  }
}

}  // namespace

Problems run_checks(const std::vector<Check>& checks,
                    Cancellation& stop,
                    const Cancellation& user,
                    milliseconds limit) {
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t left = checks.size();
  std::vector<Problems> found(checks.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < checks.size(); ++i) {
    threads.push_back(start_thread([&, i] {
      auto findings = outcome_of(checks[i], limit);
      const std::lock_guard lock{mutex};
      found[i] = std::move(findings);
      --left;
      ended.notify_all();
    }));
  }
  const auto end = Clock::now() + limit;
  {
    std::unique_lock lock{mutex};
    while (left > 0 && !user.requested && Clock::now() < end) {
      ended.wait_until(lock, std::min(end, Clock::now() + look_at_user));
    }
    stop.requested = left > 0;
  }
  threads.clear();
  user.throw_if_requested();
  Problems all;
  for (auto& findings : found) {
    append(all, std::move(findings));
  }
  return all;
}

}  // namespace autopack::preflight
