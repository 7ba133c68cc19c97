#include "local/study.hpp"

#include "base/json.hpp"
#include "base/parallel.hpp"
#include "google/timestamp.hpp"
#include "local/network.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <string_view>
#include <utility>

namespace autopack::local {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto* metric_file = "/tmp/hypertune/output.metrics";  // written by cloudml-hypertune
constexpr std::size_t largest_metric_file{std::size_t{4} << 20U};
/// The interval between two readings of a running trial's metrics.
constexpr auto early_stopping_period = 500ms;
/// The limit of failures before the first success, if the job does not specify one.
constexpr std::size_t usual_failures = 3;

std::size_t positive(const job::Number& number, std::size_t otherwise) {
  return number && *number > 0 ? static_cast<std::size_t>(*number) : otherwise;
}

double seconds_of(const std::string& time) {
  constexpr double billion = 1e9;
  const auto parsed = google::Timestamp::parse(time);
  return parsed ? static_cast<double>(parsed->seconds) + parsed->nanoseconds / billion : 0;
}

/// Returns the pools with the parameters as additional arguments of each program.
job::Spec with_values(job::Spec spec, const TrialValues& values) {
  for (auto& pool : spec.pools) {
    auto* const args = pool.container ? &pool.container->args
                       : pool.package ? &pool.package->args
                                      : nullptr;
    for (const auto& value : values) {
      if (args != nullptr) {
        args->push_back("--" + value.id);
        args->push_back(value.text);
      }
    }
  }
  return spec;
}

std::string words_of(const TrialValues& values) {
  std::string text;
  for (const auto& value : values) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", value.id, value.text);
  }
  return text;
}

}  // namespace

Problems check_study_for_host(const job::Job& job) {
  Problems problems;
  const auto metrics = job.study && job.study->metrics ? job.study->metrics->size() : 0;
  if (metrics > 1 && (is_bayesian(*job.study) || stopping_rule(*job.study))) {
    problems.push_back(Problem::warning({.message = "the first metric alone guides the search here",
                                         .origin = "`--submitter=local`"}));
  }
  return problems;
}

StudyRun::StudyRun(LocalJob& local, const job::Job& job, LocalOptions& options)
    : local_{local},
      job_{job},
      options_{options},
      goals_{goals_of(*job.study)},
      stopping_{stopping_rule(*job.study)} {
  read_earlier();
  suggestions_.emplace(job, trials_, positive(job.max_trials, 1));
}

void StudyRun::read_earlier() {
  const auto found = local_.resource().find("trials");
  for (const auto& resource : found == local_.resource().end() ? json::array() : *found) {
    auto trial = read_trial(resource);
    if (!trial) {
      break;  // later trials are identified by their number
    }
    if (!trial->has_ended()) {
      again_.push_back(trials_.size());
    }
    trials_.push_back(std::move(*trial));
  }
}

Ending StudyRun::to_the_end() {
  local_.enter("RUNNING");
  const auto study = plan_cluster({}, local_.record().id(), own_name("study"));
  network_ = study.network;
  const Network network{local_.containers(), study};
  const auto at_once = std::min(positive(job_.parallel_trials, 1),
                                std::max(suggestions_->most_trials(), again_.size()));
  in_parallel(at_once, at_once, [this](std::size_t) { run_trials(); });
  put_trials();
  return ending();
}

std::string StudyRun::own_name(const std::string& name) const {
  return options_.resumed ? fmt::format("{}-{}", name, ::getpid()) : name;
}

std::optional<std::size_t> StudyRun::next_trial() {
  const std::lock_guard lock{mutex_};
  if (has_failed() || is_cancelled_) {
    return std::nullopt;
  }
  if (!again_.empty()) {
    const auto number = again_.front();
    again_.erase(again_.begin());
    const auto& broken = trials_[number];
    trials_[number] = {.id = broken.id, .values = broken.values, .started = now().text()};
    return number;
  }
  if (trials_.size() >= suggestions_->most_trials()) {
    return std::nullopt;
  }
  const auto number = trials_.size();
  auto values = suggestions_->next(trials_);
  trials_.push_back(
      {.id = std::to_string(number + 1), .values = std::move(values), .started = now().text()});
  return number;
}

Curve StudyRun::curve_of(const Trial& trial) const {
  Curve curve;
  auto measured = trial.measured;
  if (measured.empty() && trial.last) {
    measured.push_back(*trial.last);  // it ran before the study had a rule
  }
  for (const auto& measurement : measured) {
    if (const auto loss = goals_.loss_of(measurement)) {
      curve.push_back(
          {.at = stopping_->by_time ? measurement.elapsed : static_cast<double>(measurement.step),
           .loss = *loss});
    }
  }
  std::ranges::stable_sort(curve,
                           [](const CurvePoint& a, const CurvePoint& b) { return a.at < b.at; });
  return curve;
}

void StudyRun::run_trials() {
  while (const auto number = next_trial()) {
    put_trials();  // interrupted trials run again with the same values
    run_trial(*number);
  }
}

void StudyRun::run_trial(std::size_t number) {
  std::unique_lock lock{mutex_};
  auto trial = trials_[number];
  lock.unlock();
  auto cluster = plan_cluster(local_.counts(), local_.record().id(), own_name(trial.id));
  cluster.network = network_;
  const auto spec = with_values(job_.spec, trial.values);
  std::optional<std::string> report;
  JobWatcher watcher{{.screen = &options_.screen,
                      .log = &local_.log(),
                      .writing = &local_.writing(),
                      .prefix = fmt::format("trial{}-", trial.id),
                      .ending = [&] {
                        report = local_.containers().read_file(cluster.replicas.front().container,
                                                               metric_file, largest_metric_file);
                      }}};
  auto run = local_.run_of(spec, cluster, watcher);
  run.has_network = true;
  if (stopping_) {
    run.has_done_enough = [&, looked = Clock::now()]() mutable {
      if (Clock::now() - looked < early_stopping_period) {
        return false;
      }
      const bool stops = is_to_stop(trial, cluster);
      looked = Clock::now();  // a slow engine is not polled without a pause
      return stops;
    };
  }
  for (const auto& replica : cluster.replicas) {
    auto container = container_of(spec, cluster, replica, options_.host, trial.id);
    container.environment["CLOUD_ML_HP_METRIC_FILE"] = metric_file;
    container.environment["CLOUD_ML_HP_METRIC_TAG"] = goals_.ids.empty() ? "" : goals_.ids.front();
    run.specs.push_back(std::move(container));
  }
  watcher.told("INFO", words_of(trial.values));
  const auto ending = run_cluster(run);
  if (trial.state == "STOPPING") {
    watcher.told("INFO", fmt::format("Stopped early at step {}.", trial.measured.back().step));
  }
  judge(trial, ending, report);
  if (trial.reason) {
    watcher.told("ERROR", *trial.reason);
  }
  lock.lock();
  is_cancelled_ = is_cancelled_ || ending.state == "JOB_STATE_CANCELLED";
  trials_[number] = trial;
  lock.unlock();
  put_trials();
}

bool StudyRun::is_to_stop(Trial& trial, const Cluster& cluster) {
  add_later(trial.measured,
            read_report(trial, local_.containers().read_file(cluster.replicas.front().container,
                                                             metric_file, largest_metric_file)));
  std::vector<Curve> ended;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& other : trials_) {
      if (other.has_ended() && other.last) {
        ended.push_back(curve_of(other));
      }
    }
  }
  const bool stops = is_hopeless(*stopping_, curve_of(trial), ended);
  trial.state = stops ? "STOPPING" : trial.state;
  return stops;
}

std::vector<Measurement> StudyRun::read_report(const Trial& trial,
                                               const std::optional<std::string>& report) const {
  return read_metrics(report.value_or(""), goals_.ids, seconds_of(trial.started));
}

void StudyRun::judge(Trial& trial,
                     const Ending& ending,
                     const std::optional<std::string>& report) const {
  const auto read = read_report(trial, report);
  auto all = trial.measured;  // the file may contain only the latest
  all.insert(all.end(), read.begin(), read.end());
  trial.last = final_measurement(all, goals_);
  if (stopping_) {
    add_later(trial.measured, read);
  }
  if (ending.state == "JOB_STATE_CANCELLED") {
    trial.state = "STOPPING";
    return;
  }
  trial.ended = now().text();
  if (ending.state != "JOB_STATE_SUCCEEDED") {
    trial.state = "INFEASIBLE";
    trial.reason = ending.message;
  } else if (!trial.last) {
    trial.state = "INFEASIBLE";
    trial.reason = fmt::format(
        "The trial never reported the metric {}: nothing with that tag is "
        "in cloudml-hypertune's file.",
        fmt::join(goals_.ids, ", "));
  } else if (trial.state != "STOPPING") {
    trial.state = "SUCCEEDED";
  }
}

void StudyRun::put_trials() {
  const std::lock_guard lock{mutex_};
  json trials = json::array();
  for (const auto& trial : trials_) {
    trials.push_back(resource_of(trial));
  }
  local_.set("trials", std::move(trials));
  local_.record().put(local_.resource());
}

std::size_t StudyRun::count(const std::string& state) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(trials_, [&](const Trial& trial) { return trial.state == state; }));
}

bool StudyRun::has_failed() const {
  const auto failed = count("INFEASIBLE");
  const auto most = positive(job_.max_failed_trials, 0);
  return most > 0 ? failed >= most : failed >= usual_failures && count("SUCCEEDED") == 0;
}

Ending StudyRun::ending() const {
  if (is_cancelled_) {
    return {.state = "JOB_STATE_CANCELLED",
            .status = 1,
            .code = 1,
            .message = "The job was cancelled by its user."};
  }
  if (has_failed() || count("SUCCEEDED") == 0) {
    const auto failed = std::find_if(trials_.rbegin(), trials_.rend(),
                                     [](const Trial& trial) { return trial.reason.has_value(); });
    return {
        .state = "JOB_STATE_FAILED",
        .status = 1,
        .code = 3,
        .message = fmt::format("{} of {} trials failed. {}", count("INFEASIBLE"), trials_.size(),
                               failed == trials_.rend() ? "" : *failed->reason)};
  }
  return {.state = "JOB_STATE_SUCCEEDED"};
}

}  // namespace autopack::local
