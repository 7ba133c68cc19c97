#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

namespace autopack::job {

namespace {

struct StoppingRule {
  std::string_view word;
  std::string_view key;
  std::optional<Bag> Study::*member;
};

constexpr std::array stopping_rules{
    StoppingRule{"median", "medianAutomatedStoppingSpec", &Study::median_stopping},
    StoppingRule{"decay-curve", "decayCurveStoppingSpec", &Study::decay_curve_stopping},
    StoppingRule{"convex", "convexAutomatedStoppingSpec", &Study::convex_stopping},
};

/// Merges the flags of a study entry by entry.
class StudyMerge {
public:
  StudyMerge(const JobFlags& flags, Job& job, Problems& problems)
      : all_{flags}, flags_{flags.study}, job_{job}, problems_{problems} {}

  void refuse();
  void run();

private:
  template <class Entry>
  void entries(std::optional<std::vector<Entry>>& list,
               const char* key,
               const char* flag,
               const std::vector<std::string>& texts,
               std::optional<Entry> (*read)(const std::string& text, Problems& problems));
  void count(Number& into, const char* key, const char* flag, const Number& value);
  void least(Number& count, const char* key);
  void enumeration(
      Text& into, const char* key, const char* flag, const Text& given, std::string_view suffix);
  void early_stopping();
  void fault(std::string_view flag, std::string message, std::vector<std::string> hints = {});

  const JobFlags& all_;
  const StudyFlags& flags_;
  Job& job_;
  Problems& problems_;
};

void StudyMerge::fault(std::string_view flag, std::string message, std::vector<std::string> hints) {
  problems_.push_back({.message = std::move(message),
                       .origin = to_string(all_.origin(flag)),
                       .hints = std::move(hints)});
}

/// Reports study flags of a job without a study.
void StudyMerge::refuse() {
  const std::array<std::pair<bool, std::string_view>, 8> given{{
      {!flags_.metrics.empty(), "--metric"},
      {!flags_.parameters.empty(), "--parameter"},
      {flags_.max_trial_count.has_value(), "--max-trial-count"},
      {flags_.parallel_trial_count.has_value(), "--parallel-trial-count"},
      {flags_.max_failed_trial_count.has_value(), "--max-failed-trial-count"},
      {flags_.algorithm.has_value(), "--algorithm"},
      {flags_.measurement_selection.has_value(), "--measurement-selection"},
      {flags_.early_stopping.has_value(), "--early-stopping"},
  }};
  for (const auto& [is_given, flag] : given) {
    if (is_given) {
      fault(flag, fmt::format("`{}` is for a tuning job", flag), {"create one: autopack tune"});
    }
  }
}

/// Each entry replaces the file's entry with its id, or is appended.
template <class Entry>
void StudyMerge::entries(std::optional<std::vector<Entry>>& list,
                         const char* key,
                         const char* flag,
                         const std::vector<std::string>& texts,
                         std::optional<Entry> (*read)(const std::string& text,
                                                      Problems& problems)) {
  std::set<std::size_t> of_flags;
  for (const auto& text : texts) {
    auto entry = read(text, problems_);
    if (!entry) {
      job_.origins[fmt::format("studySpec.{}", key)] = all_.origin(flag);
      continue;
    }
    auto& all = ensure(list);
    std::size_t place = 0;
    while (place < all.size() && (of_flags.contains(place) || all[place].id != entry->id)) {
      ++place;
    }
    all.resize(std::max(all.size(), place + 1));
    all[place] = std::move(*entry);
    of_flags.insert(place);
    job_.origins[fmt::format("studySpec.{}[{}]", key, place)] = all_.origin(flag);
  }
}

void StudyMerge::count(Number& into, const char* key, const char* flag, const Number& value) {
  if (!value) {
    return;
  }
  job_.origins[key] = all_.origin(flag);
  if (*value > std::numeric_limits<std::int32_t>::max() ||
      *value < std::numeric_limits<std::int32_t>::min()) {
    fault(flag, fmt::format("`{}` is too large: {}", flag, *value));
    return;
  }
  into = value;
}

/// Sets the count to one trial, unless it was given.
void StudyMerge::least(Number& count, const char* key) {
  if (!count && !job_.origins.contains(key)) {
    count = 1;
  }
}

/// Converts `grid-search` to `GRID_SEARCH`, and `best` to `BEST` plus `suffix`.
void StudyMerge::enumeration(
    Text& into, const char* key, const char* flag, const Text& given, std::string_view suffix) {
  if (!given) {
    return;
  }
  std::string name = to_upper(replace_all(*given, "-", "_"));
  const auto values = tables::find_field(tables::message("StudySpec"), key)->values;
  const auto known = [&](const std::string& candidate) { return contains(values, candidate); };
  job_.origins[fmt::format("studySpec.{}", key)] = all_.origin(flag);
  if (!known(name) && known(name + std::string{suffix})) {
    name += suffix;
  }
  if (known(name)) {
    into = name;
    return;
  }
  std::vector<std::string> words;
  for (const auto& candidate : values.subspan(1)) {
    words.push_back(to_lower(replace_all(std::string{candidate}, "_", "-")));
  }
  const auto near = nearest(*given, words);
  fault(flag,
        fmt::format("`{}` has no value `{}`{}", flag, printable(*given),
                    near ? " (did you mean `" + *near + "`?)" : ""),
        {"the values are `" + join(words, "`, `") + "`"});
}

void StudyMerge::early_stopping() {
  if (!flags_.early_stopping) {
    return;
  }
  const auto* const rule = std::ranges::find_if(
      stopping_rules, [&](const StoppingRule& r) { return r.word == flags_.early_stopping; });
  if (rule == stopping_rules.end()) {
    fault("--early-stopping",
          fmt::format("`--early-stopping` has no value `{}`", printable(*flags_.early_stopping)),
          {"the values are `median`, `decay-curve`, `convex`"});
    return;
  }
  auto& study = ensure(job_.study);
  for (const auto& other : stopping_rules) {
    if (other.key != rule->key) {
      (study.*other.member).reset();
    }
  }
  ensure(study.*rule->member);
  job_.origins[fmt::format("studySpec.{}", rule->key)] = all_.origin("--early-stopping");
}

void StudyMerge::run() {
  auto& study = ensure(job_.study);
  entries(study.metrics, "metrics", "--metric", flags_.metrics, metric_of_flag);
  entries(study.parameters, "parameters", "--parameter", flags_.parameters, parameter_of_flag);
  count(job_.max_trials, "maxTrialCount", "--max-trial-count", flags_.max_trial_count);
  count(job_.parallel_trials, "parallelTrialCount", "--parallel-trial-count",
        flags_.parallel_trial_count);
  count(job_.max_failed_trials, "maxFailedTrialCount", "--max-failed-trial-count",
        flags_.max_failed_trial_count);
  least(job_.max_trials, "maxTrialCount");
  least(job_.parallel_trials, "parallelTrialCount");
  enumeration(study.algorithm, "algorithm", "--algorithm", flags_.algorithm, "_SEARCH");
  enumeration(study.measurement_selection, "measurementSelectionType", "--measurement-selection",
              flags_.measurement_selection, "_MEASUREMENT");
  early_stopping();
}

}  // namespace

void merge_study(const JobFlags& flags, Job& job, Problems& problems) {
  StudyMerge merge{flags, job, problems};
  is_tuning(job.kind) ? merge.run() : merge.refuse();
}

}  // namespace autopack::job
