#include "base/json.hpp"
#include "base/text.hpp"
#include "job/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

namespace autopack::job {

using nlohmann::json;

namespace {

struct StoppingRule {
  std::string_view word;
  std::string_view key;
};

constexpr std::array stopping_rules{
    StoppingRule{"median", "medianAutomatedStoppingSpec"},
    StoppingRule{"decay-curve", "decayCurveStoppingSpec"},
    StoppingRule{"convex", "convexAutomatedStoppingSpec"},
};

/// Lays the flags of a study over the file's, entry by entry.
class StudyMerge {
public:
  StudyMerge(const StudyFlags& flags, Draft& draft, Problems& problems)
      : flags_{flags}, draft_{draft}, problems_{problems} {}

  void refuse();
  void run();

private:
  json& study() { return (*draft_.body)["studySpec"]; }

  void entry(const char* list, const char* id, const char* flag, json value);
  void count(const char* key, const char* flag, const std::optional<std::int64_t>& value);
  void enumeration(const char* key,
                   const char* flag,
                   const std::string& value,
                   std::string_view suffix);
  void early_stopping();

  const StudyFlags& flags_;
  Draft& draft_;
  Problems& problems_;
};

/// For a job that tunes nothing.
void StudyMerge::refuse() {
  const std::array<std::pair<bool, std::string_view>, 8> given{{
      {!flags_.metrics.empty(), "--metric"},
      {!flags_.parameters.empty(), "--parameter"},
      {flags_.max_trial_count.has_value(), "--max-trial-count"},
      {flags_.parallel_trial_count.has_value(), "--parallel-trial-count"},
      {flags_.max_failed_trial_count.has_value(), "--max-failed-trial-count"},
      {!flags_.algorithm.empty(), "--algorithm"},
      {!flags_.measurement_selection.empty(), "--measurement-selection"},
      {!flags_.early_stopping.empty(), "--early-stopping"},
  }};
  for (const auto& [is_given, flag] : given) {
    if (is_given) {
      problems_.push_back({.message = fmt::format("`{}` is for a tuning job", flag),
                           .origin = fmt::format("`{}`", flag),
                           .hints = {"create one: autopack tune"}});
    }
  }
}

/// Puts `value` in the place of the entry with its id, or at the end.
void StudyMerge::entry(const char* list, const char* id, const char* flag, json value) {
  if (value.is_null()) {
    draft_.origins[fmt::format("studySpec.{}", list)] = fmt::format("`{}`", flag);
    return;
  }
  auto& entries = study()[list];
  if (!entries.is_array()) {
    entries = json::array();
  }
  const auto origin = fmt::format("`{}`", flag);
  const auto path = [&](std::size_t index) { return fmt::format("studySpec.{}[{}]", list, index); };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto known = draft_.origins.find(path(i));
    const bool from_file = known == draft_.origins.end() || known->second != origin;
    if (from_file && entries[i].value(id, json()) == value[id]) {
      entries[i] = std::move(value);
      draft_.origins[path(i)] = origin;
      return;
    }
  }
  draft_.origins[path(entries.size())] = origin;
  entries.push_back(std::move(value));
}

void StudyMerge::count(const char* key,
                       const char* flag,
                       const std::optional<std::int64_t>& value) {
  if (!value) {
    return;
  }
  draft_.origins[key] = fmt::format("`{}`", flag);
  if (*value > std::numeric_limits<std::int32_t>::max() ||
      *value < std::numeric_limits<std::int32_t>::min()) {
    problems_.push_back({.message = fmt::format("`{}` is too large: {}", flag, *value),
                         .origin = fmt::format("`{}`", flag)});
    return;
  }
  (*draft_.body)[key] = *value;
}

/// `grid-search` as `GRID_SEARCH`, and `best` as `BEST` with `suffix`.
void StudyMerge::enumeration(const char* key,
                             const char* flag,
                             const std::string& value,
                             std::string_view suffix) {
  if (value.empty()) {
    return;
  }
  std::string name = to_upper(replace_all(value, "-", "_"));
  const auto values = tables::find_field(tables::message("StudySpec"), key)->values;
  const auto known = [&](const std::string& candidate) {
    return std::find(values.begin(), values.end(), candidate) != values.end();
  };
  draft_.origins[fmt::format("studySpec.{}", key)] = fmt::format("`{}`", flag);
  if (!known(name) && known(name + std::string{suffix})) {
    name += suffix;
  }
  if (!known(name)) {
    std::vector<std::string> words;
    for (const auto& candidate : values.subspan(1)) {
      words.push_back(to_lower(replace_all(std::string{candidate}, "_", "-")));
    }
    const auto near = nearest(value, words);
    problems_.push_back({.message = fmt::format("`{}` has no value `{}`{}", flag, printable(value),
                                                near ? " (did you mean `" + *near + "`?)" : ""),
                         .origin = fmt::format("`{}`", flag),
                         .hints = {"the values are `" + join(words, "`, `") + "`"}});
    return;
  }
  study()[key] = name;
}

void StudyMerge::early_stopping() {
  if (flags_.early_stopping.empty()) {
    return;
  }
  const auto* const rule =
      std::find_if(stopping_rules.begin(), stopping_rules.end(),
                   [&](const StoppingRule& r) { return r.word == flags_.early_stopping; });
  if (rule == stopping_rules.end()) {
    problems_.push_back({.message = fmt::format("`--early-stopping` has no value `{}`",
                                                printable(flags_.early_stopping)),
                         .origin = "`--early-stopping`",
                         .hints = {"the values are `median`, `decay-curve`, `convex`"}});
    return;
  }
  for (const auto& other : stopping_rules) {
    if (other.key != rule->key) {
      study().erase(std::string{other.key});
    }
  }
  auto& spec = study()[std::string{rule->key}];
  spec = spec.is_object() ? spec : json::object();
  draft_.origins[fmt::format("studySpec.{}", rule->key)] = "`--early-stopping`";
}

void StudyMerge::run() {
  if (!study().is_object()) {
    study() = json::object();
  }
  for (const auto& metric : flags_.metrics) {
    entry("metrics", "metricId", "--metric", metric_of_flag(metric, problems_));
  }
  for (const auto& parameter : flags_.parameters) {
    entry("parameters", "parameterId", "--parameter", parameter_of_flag(parameter, problems_));
  }
  count("maxTrialCount", "--max-trial-count", flags_.max_trial_count);
  count("parallelTrialCount", "--parallel-trial-count", flags_.parallel_trial_count);
  count("maxFailedTrialCount", "--max-failed-trial-count", flags_.max_failed_trial_count);
  for (const auto* key : {"maxTrialCount", "parallelTrialCount"}) {
    if (!draft_.body->contains(key) && !draft_.origins.contains(key)) {
      (*draft_.body)[key] = 1;
    }
  }
  enumeration("algorithm", "--algorithm", flags_.algorithm, "_SEARCH");
  enumeration("measurementSelectionType", "--measurement-selection", flags_.measurement_selection,
              "_MEASUREMENT");
  early_stopping();
}

}  // namespace

void merge_study(const StudyFlags& flags, Draft& draft, Problems& problems) {
  StudyMerge merge{flags, draft, problems};
  is_tuning(draft.kind) ? merge.run() : merge.refuse();
}

}  // namespace autopack::job
