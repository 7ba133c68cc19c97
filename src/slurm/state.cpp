#include "slurm/state.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "google/timestamp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace autopack::slurm {

namespace {

using nlohmann::json;

constexpr std::size_t queue_fields{8};
constexpr std::size_t accounting_fields{7};
constexpr std::size_t longest_line{4096};
constexpr std::size_t most_jobs{10'000};
constexpr std::size_t submission_length{32};
constexpr int signal_offset{128};

// google.rpc.Code
constexpr int aborted{10};
constexpr int deadline_exceeded{4};
constexpr int internal_failure{13};
constexpr int resource_exhausted{8};
constexpr int unknown_failure{2};

/// A state of Slurm (JOB STATE CODES of squeue(1)).
struct StateRow {
  std::string_view slurm;
  std::string_view vertex;
  int code{0};              ///< of a failure
  std::string_view text{};  ///< its meaning, unless the word is clear
};

constexpr std::array states{
    StateRow{"PENDING", "JOB_STATE_QUEUED"},
    StateRow{"REQUEUED", "JOB_STATE_QUEUED", 0, "Slurm puts the job into the queue again"},
    StateRow{"REQUEUE_FED", "JOB_STATE_QUEUED"},
    StateRow{"REQUEUE_HOLD", "JOB_STATE_QUEUED", 0, "Slurm holds the job after a requeue"},
    StateRow{"RESV_DEL_HOLD", "JOB_STATE_QUEUED", 0, "its reservation was deleted"},
    StateRow{"SPECIAL_EXIT", "JOB_STATE_QUEUED", 0, "Slurm holds the job after a special exit"},
    StateRow{"CONFIGURING", "JOB_STATE_PENDING", 0, "the nodes are starting"},
    StateRow{"SUSPENDED", "JOB_STATE_PENDING", 0, "Slurm has suspended the job"},
    StateRow{"STOPPED", "JOB_STATE_PENDING", 0, "Slurm has stopped the job"},
    StateRow{"RUNNING", "JOB_STATE_RUNNING"},
    StateRow{"COMPLETING", "JOB_STATE_RUNNING"},
    StateRow{"STAGE_OUT", "JOB_STATE_RUNNING"},
    StateRow{"SIGNALING", "JOB_STATE_RUNNING"},
    StateRow{"RESIZING", "JOB_STATE_RUNNING"},
    StateRow{"COMPLETED", "JOB_STATE_SUCCEEDED"},
    StateRow{"CANCELLED", "JOB_STATE_CANCELLED"},
    StateRow{"REVOKED", "JOB_STATE_CANCELLED", 0, "another cluster runs the job"},
    StateRow{"FAILED", "JOB_STATE_FAILED", unknown_failure},
    StateRow{"TIMEOUT", "JOB_STATE_FAILED", deadline_exceeded, "the job reached its time limit"},
    StateRow{"DEADLINE", "JOB_STATE_FAILED", deadline_exceeded, "the job reached its deadline"},
    StateRow{"OUT_OF_MEMORY", "JOB_STATE_FAILED", resource_exhausted,
             "a program used more memory "
             "than the job has"},
    StateRow{"NODE_FAIL", "JOB_STATE_FAILED", internal_failure, "a node failed"},
    StateRow{"BOOT_FAIL", "JOB_STATE_FAILED", internal_failure, "a node did not start"},
    StateRow{"PREEMPTED", "JOB_STATE_FAILED", aborted, "another job preempted it"},
};

/// A reason (JOB REASON CODES of squeue(1)).
struct ReasonRow {
  std::string_view begin;
  std::string_view text;
};

constexpr std::array reasons{
    ReasonRow{"Priority", "jobs with a higher priority come first"},
    ReasonRow{"Resources", "it is next, and waits for free nodes"},
    ReasonRow{"Dependency", "it waits for another job"},
    ReasonRow{"DependencyNeverSatisfied", "the job that it waits for failed: it never starts"},
    ReasonRow{"BeginTime", "its start time has not come"},
    ReasonRow{"JobHeldUser", "it is held; `scontrol release ID` releases it"},
    ReasonRow{"JobHeldAdmin", "an administrator holds it"},
    ReasonRow{"PartitionTimeLimit", "`--time` is more than the partition permits: it never starts"},
    ReasonRow{"PartitionNodeLimit", "the partition has fewer nodes: it never starts"},
    ReasonRow{"PartitionDown", "the partition is down"},
    ReasonRow{"PartitionInactive", "the partition is inactive"},
    ReasonRow{"ReqNodeNotAvail", "nodes that it needs are reserved, down or drained"},
    ReasonRow{"Nodes required for job are DOWN", "nodes that it needs are down or drained"},
    ReasonRow{"BadConstraints", "no node has what it asks for: it never starts"},
    ReasonRow{"Licenses", "it waits for licenses"},
    ReasonRow{"Reservation", "it waits for its reservation"},
    ReasonRow{"QOS", "a limit of its `--qos`"},
    ReasonRow{"Assoc", "a limit of its account"},
    ReasonRow{"InvalidAccount", "Slurm does not accept its `--slurm-account`: it never starts"},
    ReasonRow{"InvalidQOS", "Slurm does not accept its `--qos`: it never starts"},
    ReasonRow{"launch failed", "a node could not start it; see the log of slurmd there"},
};

const StateRow* find_state(std::string_view word) {
  const auto found = std::ranges::find(states, word, &StateRow::slurm);
  return found == states.end() ? nullptr : &*found;
}

/// Returns `2026-01-02T03:04:05Z` for Slurm's form of a time in UTC; nothing for `N/A`.
std::optional<std::string> time_of(std::string_view text) {
  const auto time = google::Timestamp::parse(std::string{text} + "Z");
  return time ? std::optional{std::string{text} + "Z"} : std::nullopt;
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  return code == std::errc{} && end == text.data() + text.size() ? std::optional{value}
                                                                 : std::nullopt;
}

bool is_state(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; });
}

/// Returns the number of the job: `12` for `12+0`, the first component of a heterogeneous job, and
/// nothing for the others and for array tasks.
std::optional<std::string> leader(std::string_view text) {
  if (text.ends_with("+0")) {
    text.remove_suffix(2);
  }
  return is_job_id(text) ? std::optional{std::string{text}} : std::nullopt;
}

/// Returns the lines with exactly `count` fields, of which the last may contain the separator.
std::vector<std::vector<std::string>> rows(std::string_view text, std::size_t count) {
  std::vector<std::vector<std::string>> all;
  for (const auto& line : split(text, '\n')) {
    if (line.size() > longest_line || all.size() >= most_jobs) {
      continue;
    }
    auto fields = split(line, '|');
    if (fields.size() < count) {
      continue;
    }
    const auto rest = fields.begin() + static_cast<std::ptrdiff_t>(count) - 1;
    const std::vector<std::string> last(rest, fields.end());
    fields.resize(count - 1);
    fields.push_back(join(last, "|"));
    all.push_back(std::move(fields));
  }
  return all;
}

std::string rfc3339(std::int64_t seconds) {
  return google::Timestamp{.seconds = seconds}.text();
}

/// Returns why an ended job failed; empty if it did not.
std::string failure_text(const KnownJob& job, const StateRow& state) {
  if (!state.text.empty()) {
    return std::string{state.text};
  }
  if (job.ending && job.ending->state == "FAILED" && !job.ending->replica.empty()) {
    const int status = job.ending->status;
    return status > signal_offset
               ? fmt::format("`{}` was ended by signal {}", job.ending->replica,
                             status - signal_offset)
               : fmt::format("`{}` ended with status {}", job.ending->replica, status);
  }
  for (const auto* known : {&job.queued, &job.accounted}) {
    if (*known && (*known)->signal.value_or(0) > 0) {
      return fmt::format("the job was ended by signal {}", *(*known)->signal);
    }
    if (*known && (*known)->status.value_or(0) > 0) {
      return fmt::format("the job ended with status {}", *(*known)->status);
    }
  }
  return "Slurm gave no reason";
}

/// Returns Slurm's word for the job's state: of the queue as long as it has the job, then of the
/// accounting, then what the job itself wrote.
std::string word_of(const KnownJob& job) {
  const auto is_final = [](const std::string& word) {
    const auto* const row = find_state(word);
    return row != nullptr && (row->vertex == "JOB_STATE_SUCCEEDED" || row->code > 0 ||
                              row->vertex == "JOB_STATE_CANCELLED");
  };
  if (job.queued) {
    // A job that is completing has an end that it wrote itself. Only Slurm knows why it ended
    // programs by a signal.
    const bool knows_end = job.queued->state == "COMPLETING" && job.ending &&
                           is_final(job.ending->state) && job.ending->status <= signal_offset;
    return knows_end ? job.ending->state : job.queued->state;
  }
  if (job.accounted) {
    return job.accounted->state;
  }
  return job.ending ? job.ending->state : std::string{};
}

}  // namespace

bool is_job_id(std::string_view text) {
  constexpr std::size_t longest{10};
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, is_digit);
}

bool is_submission_id(std::string_view text) {
  return text.size() == submission_length &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<std::string> submission_of(std::string_view comment) {
  if (!comment.starts_with(comment_prefix)) {
    return std::nullopt;
  }
  comment.remove_prefix(comment_prefix.size());
  return is_submission_id(comment) ? std::optional{std::string{comment}} : std::nullopt;
}

std::vector<QueuedJob> read_queue(std::string_view text) {
  std::vector<QueuedJob> jobs;
  for (const auto& row : rows(text, queue_fields)) {
    const auto id = leader(row[0]);
    if (!id || !is_state(row[1])) {
      continue;
    }
    jobs.push_back({.id = *id,
                    .state = row[1],
                    .reason = row[2] == "None" || row[2] == "(null)" ? "" : row[2],
                    .submitted = time_of(row[3]),
                    .started = time_of(row[4]),
                    .ended = time_of(row[5]),
                    .nodes = row[6],
                    .comment = row[7]});
  }
  return jobs;
}

std::vector<QueuedJob> read_accounting(std::string_view text) {
  std::vector<QueuedJob> jobs;
  for (const auto& row : rows(text, accounting_fields)) {
    const auto id = leader(row[0]);
    const auto state = row[1].substr(0, row[1].find(' '));  // `CANCELLED by 1000`
    if (!id || !is_state(state)) {
      continue;
    }
    const auto mark = row[2].find(':');
    jobs.push_back({.id = *id,
                    .state = state,
                    .submitted = time_of(row[3]),
                    .started = time_of(row[4]),
                    .ended = time_of(row[5]),
                    .status = number_of<int>(row[2].substr(0, mark)),
                    .signal = mark == std::string::npos ? std::nullopt
                                                        : number_of<int>(row[2].substr(mark + 1)),
                    .comment = row[6]});
  }
  return jobs;
}

std::optional<Ending> read_ending(std::string_view line) {
  const auto words = split(trim(line), ' ');
  if (words.size() != 4 || !is_state(words[0])) {
    return std::nullopt;
  }
  const auto status = number_of<int>(words[1]);
  const auto seconds = number_of<std::int64_t>(words[3]);
  if (!status || *status < 0 || *status > 255 || !seconds || !is_alphanumeric(words[2], "-")) {
    return std::nullopt;
  }
  return Ending{.state = words[0],
                .status = *status,
                .replica = words[2] == "-" ? "" : words[2],
                .seconds = *seconds};
}

std::string_view vertex_state(std::string_view slurm_state) {
  const auto* const row = find_state(slurm_state);
  return row == nullptr ? "JOB_STATE_UNSPECIFIED" : row->vertex;
}

std::string explain_reason(const std::string& reason) {
  const ReasonRow* best = nullptr;
  for (const auto& row : reasons) {
    if (reason.starts_with(row.begin) &&
        (best == nullptr || best->begin.size() < row.begin.size())) {
      best = &row;
    }
  }
  const auto shown = printable(reason);
  return best == nullptr ? shown : fmt::format("{}: {}", shown, best->text);
}

json job_resource(const KnownJob& job, const std::string& login) {
  auto record = parse_json(job.record);
  if (!record.is_object()) {
    record = json::object();
  }
  const auto word = word_of(job);
  const auto* const row = find_state(word);
  json resource{{"name", fmt::format("slurm/{}/{}", login, job.id)},
                {"displayName", text_at(record, "displayName")},
                {"state", vertex_state(word)}};
  if (const auto labels = record.find("labels"); labels != record.end() && labels->is_object()) {
    resource["labels"] = *labels;
  }
  resource["labels"]["autopack-submission"] = job.submission;
  for (const auto* key : {"image", "container"}) {
    if (const auto text = text_at(record, key); !text.empty()) {
      resource[key] = text;
    }
  }
  if (!job.directory.empty()) {
    resource["directory"] = job.directory;
  }
  const auto& queued = job.queued ? job.queued : job.accounted;
  if (job.created) {
    resource["createTime"] = rfc3339(*job.created);
  } else if (queued && queued->submitted) {
    resource["createTime"] = *queued->submitted;
  }
  const bool waits = row != nullptr && (row->vertex == "JOB_STATE_QUEUED");
  if (job.started && !waits) {
    resource["startTime"] = rfc3339(*job.started);
  } else if (queued && queued->started && !waits) {
    resource["startTime"] = *queued->started;
  }
  const bool failed = row != nullptr && row->code > 0;
  const bool has_ended = row != nullptr && (failed || row->vertex == "JOB_STATE_SUCCEEDED" ||
                                            row->vertex == "JOB_STATE_CANCELLED");
  if (has_ended) {
    if (job.ending) {
      resource["endTime"] = rfc3339(job.ending->seconds);
    } else if (queued && queued->ended) {
      resource["endTime"] = *queued->ended;
    }
  }
  std::string detail;
  if (failed) {
    detail = failure_text(job, *row);
    resource["error"] = {{"code", row->code}, {"message", detail}};
  } else if (waits && job.queued && !job.queued->reason.empty()) {
    detail = explain_reason(job.queued->reason);
  } else if (row != nullptr && !row->text.empty()) {
    detail = row->text;
  } else if (word.empty()) {
    detail = "Slurm has forgotten the job, and it left no record of its end";
  } else if (row == nullptr) {
    detail = fmt::format("Slurm calls its state `{}`", printable(word));
  } else if (!has_ended && job.queued && !job.queued->nodes.empty()) {
    detail = "on " + printable(job.queued->nodes);
  }
  if (!detail.empty()) {
    resource["detail"] = detail;
  }
  return resource;
}

}  // namespace autopack::slurm
