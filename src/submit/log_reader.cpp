#include "submit/log_reader.hpp"

#include <fmt/format.h>

namespace autopack::submit {

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
  bool news = false;
  while (!has_given_up_ && job_id && failures_.may_retry() && quota_.admits(options_.now())) {
    if (pages_ == 0) {
      query_ = {.project = options_.name.project,
                .job_id = *job_id,
                .task = options_.logs->task,
                .since = cursor_.since()};
      news_ = false;
    }
    const auto page = read_page();
    if (!page) {
      break;
    }
    ++pages_;
    news_ = take(*page) || news_;
    news = news || news_;
    // The same token again would return the same page again.
    const bool is_last = !page->next_page || page->next_page == next_page_;
    next_page_ = is_last ? std::nullopt : page->next_page;
    if (is_last) {
      quiet_readings_ = news_ ? 0 : quiet_readings_ + 1;
      cursor_.read_pages(pages_);
      pages_ = 0;
      break;
    }
  }
  return news;
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
  bool news = false;
  for (const auto& entry : page.entries) {
    if (cursor_.take(entry)) {
      news = true;
      ++entries_;
      options_.logged(entry);
    }
  }
  return news;
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
  options_.reporter->warn(Problem::warning(
      {.message = error.message() + "; the job is watched without them", .hints = error.hints()}));
}

}  // namespace autopack::submit
