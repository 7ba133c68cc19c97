#include "local/study.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/parallel.hpp"
#include "google/timestamp.hpp"
#include "local/bayesian_search.hpp"
#include "local/network.hpp"
#include "local/search.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <numbers>
#include <numeric>
#include <string_view>
#include <utility>

namespace autopack::local {

namespace {

bool is_grid(const job::Study& study) {
  return study.algorithm.value_or("") == "GRID_SEARCH";
}

/// Returns the same seed for the same study, whatever else the job contains.
std::uint64_t seed_of(const job::Job& job) {
  const job::Job bare{.study = job.study, .kind = job.kind};
  return std::stoull(sha256(print_json(job::resource(bare))).hex().substr(0, 16), nullptr, 16);
}

/// Uses one sequence for each trial, so that the order of earlier trials does not matter.
std::mt19937_64 random_of(std::uint64_t seed, std::size_t trial) {
  constexpr auto half = 32U;
  std::seed_seq words{seed, seed >> half, static_cast<std::uint64_t>(trial)};
  return std::mt19937_64{words};
}

/// Converts trials for the search.
std::vector<KnownTrial> known_trials(const std::vector<Trial>& trials, const Goals& goals) {
  std::vector<KnownTrial> known;
  for (const auto& trial : trials) {
    KnownTrial one{.values = trial.values};
    if (trial.has_ended() && trial.last) {
      one.outcome = KnownTrial::Outcome::measured;
      one.loss = goals.loss_of(*trial.last).value_or(0);
    } else if (trial.has_ended()) {
      one.outcome = KnownTrial::Outcome::failed;
    }
    known.push_back(std::move(one));
  }
  return known;
}

}  // namespace

bool is_bayesian(const job::Study& study) {
  const auto algorithm = study.algorithm.value_or("");
  return algorithm.empty() || algorithm == "ALGORITHM_UNSPECIFIED";
}

Suggestions::Suggestions(const job::Job& job,
                         const std::vector<Trial>& earlier,
                         std::size_t most_trials)
    : parameters_{job.study->parameters.value_or(std::vector<job::Parameter>{})},
      goals_{goals_of(*job.study)},
      is_grid_{is_grid(*job.study)},
      is_bayesian_{is_bayesian(*job.study)},
      most_trials_{most_trials},
      seed_{seed_of(job)} {
  if (!is_grid_) {
    return;
  }
  for (auto& values : grid(parameters_, most_trials)) {
    if (std::ranges::none_of(earlier, [&](const Trial& trial) { return trial.values == values; })) {
      grid_.push_back(std::move(values));
    }
  }
  std::ranges::reverse(grid_);  // the next one is taken from the end
  most_trials_ = std::min(most_trials, earlier.size() + grid_.size());
}

TrialValues Suggestions::next(const std::vector<Trial>& trials) {
  if (is_grid_) {
    auto values = std::move(grid_.back());
    grid_.pop_back();
    return values;
  }
  auto random = random_of(seed_, trials.size());
  return is_bayesian_ ? promising_trial(parameters_, known_trials(trials, goals_), random)
                      : draw(parameters_, random);
}

namespace {

using nlohmann::json;

/// The API specifies no number; two are too few for a median.
constexpr std::size_t least_ended = 3;

/// Returns a number that proto3 writes as number or text; nothing if it is absent.
std::optional<double> number_at(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !(found->is_number() || found->is_string())) {
    return std::nullopt;
  }
  return found->is_number() ? found->get<double>()
                            : std::strtod(found->get<std::string>().c_str(), nullptr);
}

StoppingRule rule_of(StoppingRule::Kind kind, const job::Bag& spec) {
  const auto& fields = spec.fields();
  const auto by_time = fields.find("useElapsedDuration");
  StoppingRule rule{
      .kind = kind,
      .by_time = by_time != fields.end() && by_time->is_boolean() && by_time->get<bool>(),
      .least_steps = number_at(fields, "minStepCount"),
      .most_steps = number_at(fields, "maxStepCount")};
  if (const auto least = number_at(fields, "minMeasurementCount"); least && *least > 0) {
    constexpr double most = 1e6;
    rule.least_measurements = static_cast<std::size_t>(std::min(*least, most));
  }
  return rule;
}

double best_of(const Curve& curve) {
  double best = std::numeric_limits<double>::max();
  for (const auto& point : curve) {
    best = std::min(best, point.loss);
  }
  return best;
}

double mean(const std::vector<double>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), 0.0) / static_cast<double>(numbers.size());
}

double median(std::vector<double> numbers) {
  std::ranges::sort(numbers);
  const auto half = numbers.size() / 2;
  return numbers.size() % 2 == 1 ? numbers[half] : (numbers[half - 1] + numbers[half]) / 2;
}

/// Returns the points up to `at`.
Curve until(const Curve& curve, double at) {
  Curve part;
  std::ranges::copy_if(curve, std::back_inserter(part),
                       [&](const CurvePoint& point) { return point.at <= at; });
  return part;
}

/// Returns true if the trial's best value is worse than the median of the others' running averages.
bool is_below_median(const Curve& running, const std::vector<Curve>& ended) {
  std::vector<double> averages;
  for (const auto& curve : ended) {
    const auto part = until(curve, running.back().at);
    if (!part.empty()) {
      std::vector<double> losses;
      std::ranges::transform(part, std::back_inserter(losses),
                             [](const CurvePoint& point) { return point.loss; });
      averages.push_back(mean(losses));
    }
  }
  return averages.size() >= least_ended && best_of(running) > median(averages);
}

/// Predicts that the trial will gain about as much as the others did from here on. Returns true if
/// its chance to beat the best is below 1 in 20.
bool is_unlikely(const Curve& running, const std::vector<Curve>& ended) {
  constexpr double least_chance = 0.05;
  std::vector<double> gains;
  double best = std::numeric_limits<double>::max();
  for (const auto& curve : ended) {
    const auto part = until(curve, running.back().at);
    if (!curve.empty()) {
      best = std::min(best, curve.back().loss);
    }
    if (!part.empty() && part.size() < curve.size()) {
      gains.push_back(part.back().loss - curve.back().loss);
    }
  }
  if (gains.size() < least_ended) {
    return false;
  }
  const double usual = mean(gains);
  double squares = 0;
  for (const double gain : gains) {
    squares += (gain - usual) * (gain - usual);
  }
  const auto count = static_cast<double>(gains.size());
  const double deviation = std::sqrt(squares / (count - 1) * (1 + 1 / count));
  const double missing = running.back().loss - usual - best;
  if (!(deviation > 0)) {
    return missing > 0;
  }
  return std::erfc(missing / deviation / std::numbers::sqrt2) / 2 < least_chance;
}

/// Extrapolates a line through the latter half, which overestimates the gain of a flattening curve.
/// Returns true if it ends above the best.
bool ends_above(const StoppingRule& rule, const Curve& running, const std::vector<Curve>& ended) {
  double most = rule.most_steps.value_or(0);
  double best = std::numeric_limits<double>::max();
  for (const auto& curve : ended) {
    if (!curve.empty()) {
      best = std::min(best, curve.back().loss);
      most = rule.most_steps ? most : std::max(most, curve.back().at);
    }
  }
  const auto& last = running.back();
  if (ended.size() <= rule.least_measurements || running.size() < rule.least_measurements ||
      last.at <= rule.least_steps.value_or(most / 10)) {
    return false;
  }
  const auto& middle = running[(running.size() - 1) / 2];
  const double slope = last.at > middle.at ? (last.loss - middle.loss) / (last.at - middle.at) : 0;
  return slope != 0 && last.loss + slope * std::max(most - last.at, 0.0) > best;
}

}  // namespace

std::optional<StoppingRule> stopping_rule(const job::Study& study) {
  using Kind = StoppingRule::Kind;
  if (study.median_stopping) {
    return rule_of(Kind::median, *study.median_stopping);
  }
  if (study.decay_curve_stopping) {
    return rule_of(Kind::decay_curve, *study.decay_curve_stopping);
  }
  if (study.convex_stopping) {
    return rule_of(Kind::convex, *study.convex_stopping);
  }
  return std::nullopt;
}

bool is_hopeless(const StoppingRule& rule, const Curve& running, const std::vector<Curve>& ended) {
  if (running.empty()) {
    return false;
  }
  switch (rule.kind) {
    case StoppingRule::Kind::median: return is_below_median(running, ended);
    case StoppingRule::Kind::decay_curve: return is_unlikely(running, ended);
    case StoppingRule::Kind::convex: return ends_above(rule, running, ended);
  }
  return false;
}

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
  watcher.reported("INFO", words_of(trial.values));
  const auto ending = run_cluster(run);
  if (trial.state == "STOPPING") {
    watcher.reported("INFO", fmt::format("Stopped early at step {}.", trial.measured.back().step));
  }
  judge(trial, ending, report);
  if (trial.reason) {
    watcher.reported("ERROR", *trial.reason);
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
