#include "submit/attempts.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "submit/capacity.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <utility>

namespace autopack::submit {

namespace {

class Attempts {
public:
  explicit Attempts(const AttemptsOptions& options) : options_{options}, group_{options.group} {}

  AttemptsEnd run() {
    for (std::size_t i = first(); i < options_.places.size(); ++i) {
      check_interruption();
      const auto submitted = submit(i);
      if (!submitted) {
        continue;
      }
      group_ = submitted->group;
      if (!options_.follow) {
        return {.job = *submitted, .left = places_after(i)};
      }
      auto ended = options_.follow(submitted->name.value_or(""));
      tried_.back().job = ended;
      tried_.back().reason = lack_of_capacity(*ended);
      options_.changed(tried_);
      if (!tried_.back().reason || is_last(i)) {
        return {.job = *submitted, .ended = std::move(ended), .left = places_after(i)};
      }
      report_move(i);
    }
    throw exhausted();
  }

private:
  bool is_last(std::size_t index) const { return index + 1 == options_.places.size(); }

  Attempt attempt_at(std::size_t index) const {
    return {.group = group_,
            .number = options_.earlier + index + 1,
            .place = to_string(options_.places[index].candidate),
            .labels = options_.labels};
  }

  /// Returns the index of the first place to try.
  std::size_t first() {
    if (group_) {
      return 0;
    }
    for (std::size_t i = options_.places.size(); i-- > 1;) {
      const auto& place = options_.places[i];
      const auto left = options_.submitter(place, attempt_at(i))->left_attempt(place.job);
      if (left) {
        group_ = left->group;
        options_.reporter->detail(
            fmt::format("an earlier run was ended while it created attempt {}, in {}: continuing "
                        "there",
                        i + 1, to_string(place.candidate)));
        return i;
      }
    }
    return 0;
  }

  void check_interruption() const {
    if (options_.cancellation == nullptr || !options_.cancellation->requested) {
      return;
    }
    if (tried_.empty()) {
      throw Interrupted{};
    }
    throw Interrupted{Error(ErrorKind::interrupted,
                            fmt::format("interrupted; no job was created after that in {}",
                                        to_string(tried_.back().candidate)))};
  }

  /// Returns nothing if the place refused the job.
  std::optional<SubmittedJob> submit(std::size_t index) {
    const auto& place = options_.places[index];
    if (options_.prepare) {
      options_.prepare(place);
    }
    tried_.push_back({.candidate = place.candidate});
    try {
      auto submitted = options_.submitter(place, attempt_at(index))->submit(place.job);
      tried_.back().name = submitted.name;
      tried_.back().job = submitted.answer;
      options_.changed(tried_);
      return submitted;
    } catch (const RegionRefused& error) {
      const auto& causes = error.causes();
      tried_.back().reason = causes.size() > 1 ? causes[1] : error.message();
      options_.changed(tried_);
      if (is_last(index) && tried_.size() == 1) {
        throw Error{error};
      }
      if (!is_last(index)) {
        report_move(index);
      }
      return std::nullopt;
    }
  }

  void report_move(std::size_t index) const {
    const auto& from = tried_.back();
    if (!from.name) {
      options_.reporter->warn(Problem::warning(
          {.message = fmt::format("the service refused the job in {}", to_string(from.candidate)),
           .reason = from.reason}));
    }
    options_.reporter->done(
        "Moved",
        fmt::format("to {}: no capacity in {} (attempt {} of {})",
                    to_string(options_.places[index + 1].candidate), to_string(from.candidate),
                    options_.earlier + index + 2, options_.earlier + options_.places.size()));
  }

  std::vector<job::Candidate> places_after(std::size_t index) const {
    std::vector<job::Candidate> left;
    for (std::size_t i = index + 1; i < options_.places.size(); ++i) {
      left.push_back(options_.places[i].candidate);
    }
    return left;
  }

  Error exhausted() const {
    Error error{ErrorKind::remote,
                fmt::format("no place has capacity for the job; {} were tried", tried_.size())};
    for (const auto& one : tried_) {
      error.cause(
          fmt::format("{}: {}", to_string(one.candidate), one.reason.value_or("no capacity")));
    }
    return error.hint("wait for a place: --strategy=FLEX_START");
  }

  const AttemptsOptions& options_;
  std::optional<std::string> group_;
  std::vector<Tried> tried_{};
};

}  // namespace

AttemptsEnd run_attempts(const AttemptsOptions& options) {
  return Attempts{options}.run();
}

}  // namespace autopack::submit
