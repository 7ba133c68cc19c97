#include "submit/job_state.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/line.hpp"
#include "base/text.hpp"
#include "google/explanation.hpp"
#include "google/job_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::submit {

using nlohmann::json;

namespace {

constexpr std::size_t longest_text = 2000;

/// Final states, and `paused`, where the job waits for a person.
constexpr std::array<std::string_view, 6> ends{"succeeded", "failed", "cancelled",
                                               "expired",   "paused", "partially_succeeded"};

// google.rpc.Code
constexpr std::array<std::string_view, 17> codes{
    "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
    "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
    "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
    "DATA_LOSS", "UNAUTHENTICATED"};

std::string code_name(const json& error) {
  const auto found = error.find("code");
  if (found == error.end() || !found->is_number_integer()) {
    return {};
  }
  const auto code = found->get<std::int64_t>();
  return code >= 0 && code < static_cast<std::int64_t>(codes.size())
             ? std::string{codes[static_cast<std::size_t>(code)]}
             : fmt::format("code {}", code);
}

void add_reason(Error& error, const json& job, const google::FieldPlace& place) {
  const auto found = job.find("error");
  if (found == job.end() || !found->is_object()) {
    return;
  }
  const auto message = text_at(*found, "message").substr(0, longest_text);
  const auto code = code_name(*found);
  const auto said = printable(single_spaced(message));
  error.cause(code.empty() || said.empty() ? code + said : code + ": " + said);
  if (const auto known = google::explain(code + " " + said, place)) {
    error.cause(known->why);
    error.hint(replace_all(known->command, "JOB", text_at(job, "name")));
  }
}

}  // namespace

JobState state_of(const json& job) {
  JobState state{.word = to_lower(text_at(job, "state"))};
  for (const std::string_view prefix : {"job_state_", "pipeline_state_"}) {
    if (state.word.starts_with(prefix)) {
      state.word.erase(0, prefix.size());
    }
  }
  state.word =
      state.word.empty() || state.word == "unspecified" ? "unknown" : printable(state.word);
  state.ended = contains(ends, state.word);
  state.succeeded = state.word == "succeeded";
  return state;
}

std::optional<Error> failure_of(const json& job) {
  const auto state = state_of(job);
  if (state.succeeded) {
    return std::nullopt;
  }
  const auto name = text_at(job, "name");
  const auto parsed = google::JobName::parse(name);
  const auto words = parsed ? google::words_of(parsed->kind) : std::string_view{"job"};
  static constexpr std::array plain{"failed", "expired"};
  const bool verb = contains(plain, state.word);
  const auto what = state.word == "partially_succeeded" ? "succeeded only in part"
                    : verb                              ? state.word
                    : state.ended                       ? "was " + state.word
                                                        : "is " + state.word;
  Error error{ErrorKind::remote, fmt::format("{} `{}` {}", words, printable(name), what)};
  add_reason(error, job,
             parsed ? google::FieldPlace{.project = parsed->project, .region = parsed->region}
                    : google::FieldPlace{});
  return error.hint("see all of it: autopack jobs describe " + shell_quote(printable(name)));
}

std::optional<std::string> logging_job_id(const json& job) {
  auto name = google::JobName::parse(text_at(job, "name"));
  if (!name || name->kind != google::JobKind::pipeline) {
    return name ? std::optional{name->id} : std::nullopt;
  }
  const auto metadata = job.find("trainingTaskMetadata");
  if (metadata == job.end()) {
    return std::nullopt;
  }
  for (const auto* key : {"backingHyperparameterTuningJob", "backingCustomJob"}) {
    if (const auto backing = google::JobName::parse(text_at(*metadata, key))) {
      return backing->id;
    }
  }
  return std::nullopt;
}

}  // namespace autopack::submit
