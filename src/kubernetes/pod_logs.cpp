#include "kubernetes/pod_logs.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/url.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

// A JobSet that ends deletes the pods that still run, and their logs, so logs are followed while
// they are written. The end of a stream means nothing, because the node may have dropped it. The
// pod's state shows whether its program has ended; if not, the log is read again from the last
// known time.

namespace autopack::kubernetes {

namespace {

using namespace std::chrono_literals;
using google::LogEntry;
using std::chrono::milliseconds;

constexpr std::size_t longest_line{std::size_t{1} << 18U};
constexpr std::size_t most_waiting = 20'000;
constexpr std::size_t most_logs = 256;
constexpr int most_failures = 8;
constexpr milliseconds first_pause{500};
constexpr milliseconds longest_pause{10'000};
constexpr milliseconds watch_pause{5'000};
constexpr std::int64_t beginning = 3600;  // of LogCursor, before its first entry

}  // namespace

std::vector<LogEntry> LogLines::feed(std::string_view bytes) {
  std::vector<LogEntry> entries;
  rest_ += bytes;
  std::size_t begin = 0;
  for (auto end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', begin)) {
    take(std::string_view{rest_}.substr(begin, end - begin), entries);
    begin = end + 1;
  }
  rest_.erase(0, begin);
  if (rest_.size() > longest_line) {
    take(rest_, entries);
    rest_.clear();
  }
  return entries;
}

std::vector<LogEntry> LogLines::end() {
  std::vector<LogEntry> entries;
  if (!rest_.empty()) {
    take(std::exchange(rest_, {}), entries);
  }
  return entries;
}

void LogLines::take(std::string_view line, std::vector<LogEntry>& entries) {
  LogEntry entry{.severity = "INFO", .task = replica_};
  const auto space = std::min(line.find(' '), line.size());
  entry.time = google::Timestamp::parse(line.substr(0, space));
  const auto text = entry.time ? line.substr(std::min(space + 1, line.size())) : line;
  entry.message = std::string{text.ends_with('\r') ? text.substr(0, text.size() - 1) : text};
  if (entry.time != time_) {
    time_ = entry.time;
    equal_.clear();
  }
  const auto hash = std::hash<std::string_view>{}(text);
  entry.insert_id = fmt::format("{:x}-{}", hash, equal_[hash]++);
  if (cursor_.take(entry)) {
    entries.push_back(std::move(entry));
  }
}

void PodLogs::finish() {
  follows_ = false;
  no_streams_ = true;
  taken_.notify_all();
}

PodLogs::~PodLogs() {
  stop_ = true;
  no_streams_ = true;
  taken_.notify_all();
  threads_.clear();
}

void PodLogs::start(std::function<void()> task) {
  threads_.push_back(start_thread([this, task = std::move(task)] {
    try {
      task();
    } catch (const Interrupted&) {
      // The thread that waits for entries notices it, too.
    } catch (...) {
      fail(std::current_exception());
    }
    arrived_.notify_all();
  }));
}

void PodLogs::follow(const ReadableLog& log) {
  // A container that was started again continues the log of the one before it.
  if (!known_.insert(log.uid + "/" + log.container).second) {
    return;
  }
  if (known_.size() > most_logs) {
    ++left_out_;
    return;
  }
  {
    const std::scoped_lock lock{mutex_};
    ++active_;
  }
  start([this, log] { run(log); });
}

void PodLogs::run(const ReadableLog& log) {
  struct Counted {
    PodLogs& logs;

    explicit Counted(PodLogs& of) : logs{of} {}

    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

    ~Counted() {
      const std::scoped_lock lock{logs.mutex_};
      --logs.active_;
    }
  };

  const Counted counted{*this};
  read(log);
}

void PodLogs::read(ReadableLog log) {
  submit::LogCursor cursor;
  int failures = 0;
  for (bool is_last = log.has_ended || !follows_; !stop_;) {
    const auto status = read_once(log, cursor, false, is_last);
    if (stop_ || (is_last && status >= 200 && status < 300)) {
      return;
    }
    if (status == 403 || failures > most_failures) {
      const std::scoped_lock lock{mutex_};
      problems_.push_back(Problem::warning(
          {.message = fmt::format("the log of {} cannot be read", log.replica),
           .reason = status == 403 ? "the login lacks the right to get pods/log" : ""}));
      return;
    }
    const bool good = status >= 200 && status < 300;
    failures = good ? 0 : failures + 1;
    if (!good && !no_streams_) {
      pause(std::min(longest_pause, first_pause * (1 << std::min(failures, 5))));
    }
    // The stream may have ended although the program runs: the pod's state shows it.
    const auto pod = api_.find(
        {.what = "read the pod",
         .path = collection_path("v1", name_space_, "pods") + "/" + percent_encode(log.pod)});
    const auto now = pod.is_object() ? readable_log(pod) : std::nullopt;
    if (!now || now->uid != log.uid) {
      const bool has_entries = cursor.since().seconds > beginning;
      if (status == 404 && !has_entries) {
        const std::scoped_lock lock{mutex_};
        problems_.push_back(Problem::warning(
            {.message = fmt::format("the log of {} is lost: its pod is gone", log.replica)}));
      }
      return;
    }
    if (now->restarts > log.restarts) {
      static_cast<void>(read_once(log, cursor, true, true));
    }
    is_last = now->has_ended || !follows_;
    log = *now;
  }
}

int PodLogs::read_once(const ReadableLog& log,
                       submit::LogCursor& cursor,
                       bool previous,
                       bool is_last) {
  auto query = "container=" + percent_encode(log.container) + "&timestamps=true";
  query += previous ? "&previous=true" : follows_ && !is_last ? "&follow=true" : "";
  if (const auto since = cursor.since(); since.seconds > beginning) {
    query += "&sinceTime=" + percent_encode(since.text());
  }
  LogLines lines{cursor, log.replica};
  try {
    const auto response = api_.stream(
        {.what = "read the log",
         .path =
             collection_path("v1", name_space_, "pods") + "/" + percent_encode(log.pod) + "/log",
         .query = std::move(query),
         .accept = "*/*"},
        [&](std::string_view bytes) { push(lines.feed(bytes)); },
        is_last || previous ? &stop_ : &no_streams_);
    if (!response.body.empty() && response.ok()) {
      push(lines.feed(response.body));
    }
    if (is_last && response.ok()) {
      push(lines.end());
    }
    return response.status;
  } catch (const http::TransportError&) {
    return 0;
  }
}

void PodLogs::push(std::vector<LogEntry> entries) {
  if (entries.empty()) {
    return;
  }
  std::unique_lock lock{mutex_};
  while (entries_.size() > most_waiting && !stop_) {
    taken_.wait_for(lock, 100ms);
  }
  entries_.insert(entries_.end(), std::make_move_iterator(entries.begin()),
                  std::make_move_iterator(entries.end()));
  arrived_.notify_all();
}

void PodLogs::pause(milliseconds time) {
  std::unique_lock lock{mutex_};
  taken_.wait_for(lock, time, [this] { return no_streams_.load(); });
}

void PodLogs::fail(std::exception_ptr failure) {
  const std::scoped_lock lock{mutex_};
  failure_ = failure_ ? failure_ : std::move(failure);
}

void PodLogs::wake_at_changes(const std::string& path, const std::string& query) {
  start([this, path, query] {
    while (!no_streams_) {
      int status = 0;
      try {
        const auto response = api_.stream(
            {.what = "watch the job", .path = path, .query = query + "&watch=1&timeoutSeconds=120"},
            [this](std::string_view) {
              const std::scoped_lock lock{mutex_};
              changed_ = true;
              arrived_.notify_all();
            },
            &no_streams_);
        status = response.status;
      } catch (const Error&) {
        status = 0;
      }
      if (status >= 400 && status < 500 && status != 429) {
        return;  // without this right, the job is asked from time to time
      }
      pause(status == 200 ? first_pause : watch_pause);
    }
  });
}

std::vector<LogEntry> PodLogs::next(milliseconds longest) {
  std::vector<LogEntry> entries;
  {
    std::unique_lock lock{mutex_};
    arrived_.wait_for(lock, longest,
                      [this] { return !entries_.empty() || changed_ || failure_ != nullptr; });
    if (failure_) {
      std::rethrow_exception(failure_);
    }
    entries = std::exchange(entries_, {});
  }
  taken_.notify_all();
  std::ranges::stable_sort(
      entries, {}, [](const LogEntry& entry) { return entry.time.value_or(google::Timestamp{}); });
  return entries;
}

bool PodLogs::take_change() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(changed_, false);
}

bool PodLogs::is_done() {
  const std::scoped_lock lock{mutex_};
  return active_ == 0 && entries_.empty();
}

std::vector<Problem> PodLogs::take_problems() {
  const std::scoped_lock lock{mutex_};
  return std::exchange(problems_, {});
}

}  // namespace autopack::kubernetes
