#include "local/run.hpp"

#include "base/contains.hpp"
#include "base/parallel.hpp"
#include "base/thread.hpp"
#include "local/network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

// Runs a job's replicas as containers on this machine, with the environment, the restarts and the
// records that Vertex AI would give them, so that a job can be tried before it costs anything.

namespace autopack::local {

UsageWatch::UsageWatch(engine::Containers& containers,
                       const std::vector<Replica>& replicas,
                       std::chrono::milliseconds period,
                       Reported reported)
    : containers_{containers},
      replicas_{replicas},
      period_{period},
      reported_{std::move(reported)} {
  thread_ = start_thread([this](const std::stop_token& stop) { watch(stop); });
}

void UsageWatch::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (const auto& replica : replicas_) {
      if (stop.stop_requested()) {
        return;
      }
      look_at(replica);
    }
    std::unique_lock lock{mutex_};
    woken_.wait_for(lock, stop, period_, [] { return false; });
  }
}

void UsageWatch::look_at(const Replica& replica) {
  const auto usage = containers_.usage(replica.container);
  if (!usage) {
    looks_.erase(replica.container);
    return;
  }
  const Look look{.at = std::chrono::steady_clock::now(), .processor_time = usage->processor_time};
  const auto [before, is_first] = looks_.try_emplace(replica.container, look);
  // The counter of a restarted container starts at zero.
  if (!is_first && look.processor_time >= before->second.processor_time) {
    const std::chrono::duration<double> busy = look.processor_time - before->second.processor_time;
    const std::chrono::duration<double> passed = look.at - before->second.at;
    reported_(replica,
              {.memory = usage->memory, .processors = passed.count() > 0 ? busy / passed : 0});
  }
  before->second = look;
}

namespace {

constexpr int most_replica_restarts = 5;
constexpr int most_job_restarts = 3;
constexpr std::chrono::hours usual_timeout{7 * 24};

/// Aborts and segmentation faults, by either number, and signs of a lost machine: killed or
/// terminated from outside.
constexpr std::array passing{6, 134, 11, 139, 137, 143};

/// Parses `7200s` or `1.5s`; returns the default if it is absent.
std::chrono::milliseconds read_timeout(const std::optional<job::Scheduling>& scheduling) {
  const auto text = scheduling ? scheduling->timeout.value_or("") : std::string{};
  const double seconds = std::strtod(text.c_str(), nullptr);
  constexpr double longest = 1e9;
  if (seconds <= 0 || seconds > longest) {
    return usual_timeout;
  }
  return std::chrono::milliseconds{static_cast<std::int64_t>(seconds * 1000)};
}

std::string words_of(const Replica& replica, const Exit& exit) {
  if (exit.ran_out_of_memory) {
    return fmt::format("The replica {} ran out of memory and exited with a non-zero status of {}.",
                       replica.name, exit.status);
  }
  return fmt::format(
      "The replica {} exited with a non-zero status of {}. Termination reason: Error.",
      replica.name, exit.status);
}

}  // namespace

RestartPolicy::RestartPolicy(const std::optional<job::Scheduling>& scheduling)
    : restarts_job_{scheduling && scheduling->restart_on_worker_restart.value_or(false)},
      never_restarts_{scheduling && scheduling->disable_retries.value_or(false)},
      timeout_{read_timeout(scheduling)} {}

bool RestartPolicy::may_restart(const Exit& exit) const {
  return !never_restarts_ && !exit.ran_out_of_memory && contains(passing, exit.status);
}

RestartPolicy::Next RestartPolicy::after(const Replica& replica, const Exit& exit) {
  if (exit.status == 0) {
    return replica.is_primary() ? Next::succeed : Next::go_on;
  }
  message_ = words_of(replica, exit);
  if (!may_restart(exit)) {
    return Next::fail;
  }
  auto& restarts = restarts_[replica.name];
  if (!restarts_job_ && restarts < most_replica_restarts) {
    ++restarts;
    message_ += fmt::format(" It is started again ({} of {}).", restarts, most_replica_restarts);
    return Next::restart_replica;
  }
  if (job_restarts_ < most_job_restarts) {
    ++job_restarts_;
    restarts_.clear();
    message_ +=
        fmt::format(" The job is started again ({} of {}).", job_restarts_, most_job_restarts);
    return Next::restart_job;
  }
  return Next::fail;
}

namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t calls_at_once = 8;
constexpr auto look_period = 100ms;
constexpr auto usage_period = 2s;
/// The time for a program to end by itself after its job has ended, and after the user ends it.
constexpr auto grace_at_end = 1500ms;
constexpr auto grace_of_cancelled = 5s;

// google.rpc.Code
constexpr int code_cancelled = 1;
constexpr int code_invalid_argument = 3;
constexpr int code_deadline_exceeded = 4;

class Running {
public:
  explicit Running(const ClusterRun& run) : run_{run}, restart_policy_{run.restart_policy} {}

  ~Running() { remove_all(); }

  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  Running(Running&&) = delete;
  Running& operator=(Running&&) = delete;

  Ending to_the_end() {
    make_all();
    began_ = Clock::now();
    begin();
    watch_usage();
    auto ending = decide();
    usage_.reset();
    const bool is_cancelled = ending.state == "JOB_STATE_CANCELLED";
    if (is_cancelled) {
      run_.cancellation->accepts_repeat = true;
      if (run_.cancelling) {
        run_.cancelling(grace_of_cancelled);
      }
    }
    end_all(is_cancelled ? Clock::duration{grace_of_cancelled} : Clock::duration{grace_at_end});
    const std::lock_guard lock{mutex_};
    run_.watcher->ending();
    return ending;
  }

private:
  struct Event {
    std::size_t replica{0};
    Exit exit{};
    std::exception_ptr failure{};
  };

  const std::vector<Replica>& replicas() const { return run_.cluster.replicas; }

  engine::Containers& containers() const { return *run_.containers; }

  void make_all() {
    if (!run_.has_network) {
      network_.emplace(containers(), run_.cluster);
    }
    in_parallel(replicas().size(), calls_at_once, [this](std::size_t i) {
      run_.cancellation->throw_if_requested();
      containers().make(replicas()[i].container, run_.specs[i]);
    });
  }

  void begin() {
    threads_.resize(replicas().size());
    for (std::size_t i = 0; i < replicas().size(); ++i) {
      start(i);
    }
  }

  void watch_usage() {
    if (run_.watches_usage) {
      usage_.emplace(containers(), replicas(), usage_period,
                     [this](const Replica& replica, const Usage& usage) {
                       const std::lock_guard lock{mutex_};
                       run_.watcher->used(replica, usage);
                     });
    }
  }

  /// Starts or restarts a replica.
  void start(std::size_t i) {
    threads_[i] = {};  // joins the one before
    {
      const std::lock_guard lock{mutex_};
      ++alive_;
    }
    threads_[i] = start_thread([this, i] { follow(i); });
  }

  /// The thread of a replica.
  void follow(std::size_t i) {
    Event event{.replica = i};
    const auto& replica = replicas()[i];
    const auto wrote = [&](bool is_error) {
      return [this, &replica, is_error](std::string_view bytes) {
        const std::lock_guard lock{mutex_};
        run_.watcher->wrote(replica, is_error, bytes);
      };
    };
    try {
      const auto state = containers().run(
          replica.container,
          {.started = [&] { started(replica); }, .output = wrote(false), .errors = wrote(true)});
      event.exit = {.status = state.status, .ran_out_of_memory = state.ran_out_of_memory};
    } catch (...) {
      event.failure = std::current_exception();
    }
    const std::lock_guard lock{mutex_};
    --alive_;
    run_.watcher->changed(replica, event.failure
                                       ? std::string{"lost"}
                                       : fmt::format("exited with status {}", event.exit.status));
    events_.push_back(std::move(event));
    news_.notify_one();
  }

  void started(const Replica& replica) {
    const std::lock_guard lock{mutex_};
    run_.watcher->changed(replica, "running");
    ++started_;
    if (started_ == replicas().size()) {
      all_run_since_ = Clock::now();
      run_.watcher->running();
    }
  }

  std::optional<Event> next_event() {
    std::unique_lock lock{mutex_};
    news_.wait_for(lock, look_period, [this] { return !events_.empty(); });
    if (events_.empty()) {
      return std::nullopt;
    }
    auto event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

  Ending decide() {
    for (;;) {
      if (const auto event = next_event()) {
        if (event->failure) {
          std::rethrow_exception(event->failure);
        }
        if (auto ending = after(*event)) {
          return *ending;
        }
      }
      if (run_.cancellation->requested || run_.is_asked_for_end()) {
        return {.state = "JOB_STATE_CANCELLED",
                .status = 1,
                .code = code_cancelled,
                .message = "The job was cancelled by its user."};
      }
      if (run_.has_done_enough && run_.has_done_enough()) {
        return {.state = "JOB_STATE_SUCCEEDED"};
      }
      if (Clock::now() - began_ > restart_policy_.timeout()) {
        return {.state = "JOB_STATE_FAILED",
                .status = 1,
                .code = code_deadline_exceeded,
                .message =
                    fmt::format("The job did not end within its timeout of {} s.",
                                std::chrono::duration<double>(restart_policy_.timeout()).count())};
      }
      make_faults();
    }
  }

  std::optional<Ending> after(const Event& event) {
    const auto& replica = replicas()[event.replica];
    switch (restart_policy_.after(replica, event.exit)) {
      case RestartPolicy::Next::go_on: break;
      case RestartPolicy::Next::restart_replica:
        report("WARNING", restart_policy_.message());
        start(event.replica);
        break;
      case RestartPolicy::Next::restart_job:
        report("WARNING", restart_policy_.message());
        start_again();
        break;
      case RestartPolicy::Next::succeed: return Ending{.state = "JOB_STATE_SUCCEEDED"};
      case RestartPolicy::Next::fail:
        return Ending{.state = "JOB_STATE_FAILED",
                      .status = event.exit.status,
                      .code = code_invalid_argument,
                      .message = restart_policy_.message()};
    }
    return std::nullopt;
  }

  void report(const std::string& severity, const std::string& message) {
    const std::lock_guard lock{mutex_};
    run_.watcher->reported(severity, message);
  }

  void start_again() {
    kill_all();
    events_.clear();
    begin();
  }

  /// Repeats, because a replica may be about to start.
  void kill_all() {
    std::unique_lock lock{mutex_};
    while (alive_ > 0) {
      lock.unlock();
      signal_all(SIGKILL);
      lock.lock();
      news_.wait_for(lock, look_period, [this] { return alive_ == 0; });
    }
    lock.unlock();
    threads_.clear();
  }

  void signal_all(int number) {
    in_parallel(replicas().size(), calls_at_once, [this, number](std::size_t i) {
      containers().signal(replicas()[i].container, number);
    });
  }

  void make_faults() {
    const auto since = running_since();
    for (; since && faults_made_ < run_.faults.size() &&
           Clock::now() - *since >= run_.faults[faults_made_].after;
         ++faults_made_) {
      const auto& fault = run_.faults[faults_made_];
      const auto found = std::ranges::find_if(
          replicas(), [&](const Replica& one) { return one.name == fault.replica; });
      if (found == replicas().end()) {
        continue;
      }
      const bool cuts = fault.kind == Fault::Kind::cut;
      report("WARNING", fmt::format("`--fail`: {} {}.", found->name,
                                    cuts ? "loses its network" : "is killed"));
      if (cuts) {
        containers().disconnect(run_.cluster.network, found->container);
      } else {
        containers().signal(found->container, SIGKILL);
      }
    }
  }

  /// Returns nothing until every replica has been started.
  std::optional<Clock::time_point> running_since() {
    const std::lock_guard lock{mutex_};
    return all_run_since_;
  }

  /// Requests the end of running replicas, and waits for at most `grace`, or until the user cancels
  /// again.
  void end_all(Clock::duration grace) {
    {
      const std::lock_guard lock{mutex_};
      if (alive_ == 0) {
        return;
      }
    }
    signal_all(SIGTERM);
    {
      const auto deadline = Clock::now() + grace;
      std::unique_lock lock{mutex_};
      while (alive_ > 0 && !run_.cancellation->repeated && Clock::now() < deadline) {
        news_.wait_for(lock, look_period);
      }
    }
    kill_all();
  }

  void remove_all() noexcept {
    usage_.reset();
    try {
      in_parallel(replicas().size(), calls_at_once,
                  [this](std::size_t i) { containers().remove(replicas()[i].container); });
    } catch (const std::exception&) {
      // remove() throws nothing: there was no thread. The next run removes leftovers.
    }
    threads_.clear();
    network_.reset();
  }

  const ClusterRun& run_;
  std::optional<Network> network_{};
  RestartPolicy restart_policy_;
  Clock::time_point began_{};
  std::size_t faults_made_{0};
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<Event> events_{};
  std::size_t started_{0};  ///< starts of replicas
  std::optional<Clock::time_point> all_run_since_{};
  std::size_t alive_{0};  ///< replicas whose thread has not reported its end
  std::optional<UsageWatch> usage_{};
  std::vector<std::jthread> threads_{};  // last: they use all the others
};

}  // namespace

Ending run_cluster(const ClusterRun& run) {
  return Running{run}.to_the_end();
}

}  // namespace autopack::local
