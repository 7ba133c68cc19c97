#include "submit/watch.hpp"

#include "base/json.hpp"
#include "submit/capacity.hpp"
#include "submit/consecutive_failures.hpp"
#include "submit/follow_up.hpp"
#include "submit/job_state.hpp"
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
/// Log entries arrive within this many seconds.
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
      bool is_new = look_at_job();
      if (logs_ && job_) {
        is_new = logs_->read(logging_job_id(*job_)) || is_new;
      }
      const bool ended = job_ && state_of(*job_).ended;
      if (ended && is_log_whole()) {
        report_missing_logs();
        return job_;
      }
      if (job_ && !options_.follows && is_log_read()) {
        return job_;
      }
      sleep(ended || !options_.follows ? poll_interval_.last_entries()
                                       : poll_interval_.next(is_new));
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
    const bool has_started = !lack_of_capacity(*job_);
    if (logs_ && logs_->entries() == 0 && !logs_->has_given_up() && has_started) {
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
    throw Interrupted{with_follow_up(
        Error(ErrorKind::interrupted, "interrupted; the job continues"), {{"name", name}})};
  } catch (const Error& error) {
    throw with_follow_up(error, {{"name", name}});
  }
}

namespace {

constexpr std::int64_t usual_lateness = 30;  // seconds
constexpr std::int64_t least_lateness = 5;   // the same allowance as gcloud
constexpr std::int64_t memory = 2 * usual_lateness;
// Without a lower bound Cloud Logging searches only the last day.
constexpr google::Timestamp beginning{.seconds = 3600};

}  // namespace

google::Timestamp LogCursor::since() const {
  const auto back = is_busy_ ? least_lateness : usual_lateness;
  return newest_.seconds <= beginning.seconds + back
             ? beginning
             : google::Timestamp{.seconds = newest_.seconds - back,
                                 .nanoseconds = newest_.nanoseconds};
}

bool LogCursor::take(const google::LogEntry& entry) {
  if (!entry.time) {
    return timeless_.insert(entry.insert_id).second;
  }
  const auto time = *entry.time;
  if (time.seconds < newest_.seconds - memory) {
    return false;
  }
  if (!seen_[time].insert(entry.insert_id).second) {
    return false;
  }
  newest_ = std::max(newest_, time);
  seen_.erase(seen_.begin(), seen_.lower_bound({.seconds = newest_.seconds - memory}));
  return true;
}

namespace {

/// After so many consecutive failures the job continues without its log.
constexpr int most_failures = 8;

}  // namespace

bool LogReader::read(const std::optional<std::string>& job_id) {
  bool is_new = false;
  while (!has_given_up_ && job_id && failures_.may_retry() && quota_.admits(options_.now())) {
    if (pages_ == 0) {
      query_ = {.project = options_.name.project,
                .job_id = *job_id,
                .task = options_.logs->task,
                .since = cursor_.since()};
      has_entries_ = false;
    }
    const auto page = read_page();
    if (!page) {
      break;
    }
    ++pages_;
    has_entries_ = take(*page) || has_entries_;
    is_new = is_new || has_entries_;
    // The same token again would return the same page again.
    const bool is_last = !page->next_page || page->next_page == next_page_;
    next_page_ = is_last ? std::nullopt : page->next_page;
    if (is_last) {
      quiet_readings_ = has_entries_ ? 0 : quiet_readings_ + 1;
      cursor_.read_pages(pages_);
      pages_ = 0;
      break;
    }
  }
  return is_new;
}

std::optional<google::LogPage> LogReader::read_page() {
  const auto call = google::entries_call(query_, next_page_, options_.logs->endpoint_override);
  try {
    const auto response = options_.jobs->service().send(call);
    if (response.ok()) {
      auto page = google::read_log_page(call, response);
      failures_.ended();
      return page;
    }
    const auto error = google::refusal("could not " + call.what, call, response);
    const bool was_later_page = next_page_.has_value();
    if (was_later_page && response.status == 400) {
      // The page has expired: restart this reading.
      pages_ = 0;
      next_page_.reset();
    }
    if (was_later_page || google::is_passing(response.status)) {
      fail(error, response.header("retry-after"));
    } else {
      give_up(error);
    }
  } catch (const http::TransportError& error) {
    fail(error, std::nullopt);
  }
  return std::nullopt;
}

bool LogReader::take(const google::LogPage& page) {
  if (page.unreadable > 0 && !reported_unreadable_) {
    reported_unreadable_ = true;
    options_.reporter->warn(
        Problem::warning({.message = "the log contains entries that cannot be read; they are left "
                                     "out"}));
  }
  bool is_new = false;
  for (const auto& entry : page.entries) {
    if (cursor_.take(entry)) {
      is_new = true;
      ++entries_;
      options_.logged(entry);
    }
  }
  return is_new;
}

void LogReader::fail(const Error& error, const std::optional<std::string>& retry_after) {
  if (failures_.happened(retry_after)) {
    options_.reporter->detail(fmt::format("{}: trying again", error.message()));
  }
  if (failures_.lasts_too_long() ||
      (!options_.logs->required && failures_.count() > most_failures)) {
    give_up(error);
  }
}

void LogReader::give_up(const Error& error) {
  if (options_.logs->required) {
    throw error;
  }
  has_given_up_ = true;
  options_.reporter->warn(
      Problem::warning({.message = error.message() + "; autopack follows the job without them",
                        .hints = error.hints()}));
}

}  // namespace autopack::submit
