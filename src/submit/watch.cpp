#include "submit/watch.hpp"

#include "base/json.hpp"
#include "submit/consecutive_failures.hpp"
#include "submit/follow_up.hpp"
#include "submit/job_state.hpp"
#include "submit/log_reader.hpp"
#include "submit/poll_interval.hpp"

#include <fmt/format.h>

#include <ctime>

namespace autopack::submit {

using google::Job;
using google::Timestamp;
using std::chrono::milliseconds;
using namespace std::chrono_literals;

namespace {

/// After so many readings without a new entry, an ended job's log is complete.
constexpr int quiet_readings = 3;
/// Seconds after which no entry arrives any more.
constexpr std::int64_t settled = 60;

class Watcher {
public:
  explicit Watcher(WatchOptions options)
      : options_{std::move(options)},
        poll_interval_{options_.longest_wait},
        job_failures_{options_.now} {
    if (options_.logs) {
      logs_.emplace(options_);
    }
  }

  Job run() {
    for (;;) {
      bool news = look_at_job();
      if (logs_ && job_) {
        news = logs_->read(logging_job_id(*job_)) || news;
      }
      const bool ended = job_ && state_of(*job_).ended;
      if (ended && is_log_whole()) {
        report_missing_logs();
        return job_;
      }
      if (job_ && !options_.follows && is_log_read()) {
        return job_;
      }
      sleep(ended || !options_.follows ? poll_interval_.last_entries() : poll_interval_.next(news));
    }
  }

private:
  void sleep(milliseconds time) const { options_.jobs->service().options().sleep(time); }

  /// Returns true if the state has changed.
  bool look_at_job() {
    if (!job_failures_.may_retry() || (job_ && state_of(*job_).ended)) {
      return false;
    }
    const auto call = options_.jobs->get_call(options_.name);
    try {
      const auto response = options_.jobs->service().send(call);
      if (google::is_passing(response.status)) {
        lost_sight(google::refusal("could not " + call.what, call, response),
                   response.header("retry-after"));
        return false;
      }
      if (!response.ok()) {
        throw google::refusal("could not " + call.what, call, response);
      }
      const auto before = job_ ? state_of(*job_).word : "";
      job_ = google::read_job(call, response);
      if (job_failures_.ended()) {
        options_.reporter->detail("the service answers again");
      }
      if (state_of(*job_).word == before) {
        return false;
      }
      options_.changed(job_);
      return true;
    } catch (const http::TransportError& error) {
      lost_sight(error, std::nullopt);
      return false;
    }
  }

  void lost_sight(const Error& error, const std::optional<std::string>& retry_after) {
    if (job_failures_.happened(retry_after)) {
      options_.reporter->warn(Problem::warning(
          {.message = fmt::format("{}: trying again (the job is not affected)", error.message())}));
    }
    if (job_failures_.lasts_too_long()) {
      throw error;
    }
  }

  bool is_log_read() const {
    return !logs_ || logs_->has_given_up() || logs_->quiet_readings() > 0 || !logging_job_id(*job_);
  }

  bool is_log_whole() const {
    if (!logs_ || logs_->has_given_up()) {
      return true;
    }
    const auto ended = Timestamp::parse(text_at(*job_, "endTime"));
    const bool long_ago = ended && options_.date() - ended->seconds > settled;
    return logs_->quiet_readings() >= (long_ago ? 1 : quiet_readings) || !logging_job_id(*job_);
  }

  void report_missing_logs() const {
    if (logs_ && logs_->entries() == 0 && !logs_->has_given_up()) {
      options_.reporter->warn(Problem::warning(
          {.message = "the job left no log entry",
           .hints = {"may its account write logs? gcloud projects add-iam-policy-binding " +
                     options_.name.project +
                     " --member=serviceAccount:ACCOUNT --role=roles/logging.logWriter"}}));
    }
  }

  WatchOptions options_;
  PollInterval poll_interval_;
  ConsecutiveFailures job_failures_;
  std::optional<LogReader> logs_{};
  Job job_{};
};

milliseconds steady_now() {
  return std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

Job watch(WatchOptions options) {
  options.now = options.now ? options.now : steady_now;
  options.date = options.date ? options.date : [] { return std::int64_t{std::time(nullptr)}; };
  const auto name = options.name.text();
  try {
    return Watcher{std::move(options)}.run();
  } catch (const Interrupted&) {
    throw Interrupted{with_follow_up(Error(ErrorKind::interrupted, "interrupted; the job goes on"),
                                     {{"name", name}})};
  } catch (const Error& error) {
    throw with_follow_up(error, {{"name", name}});
  }
}

}  // namespace autopack::submit
