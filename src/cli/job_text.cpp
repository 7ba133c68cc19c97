#include "cli/job_text.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "cli/text_table.hpp"
#include "google/job_name.hpp"
#include "google/timestamp.hpp"
#include "job/message_json.hpp"
#include "project/requirements/build_environment.hpp"
#include "submit/job_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace autopack::cli {

using nlohmann::json;

namespace {

/// The column of the state in both tables.
constexpr std::size_t state_column_of_jobs{2};
constexpr std::size_t state_column_of_trials{1};

/// Returns the time in the time zone of this machine.
std::string local_time(const google::Timestamp& time) {
  const std::time_t seconds = time.seconds;
  std::tm parts{};
  if (::localtime_r(&seconds, &parts) == nullptr) {
    return time.readable().substr(0, 19);
  }
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string with_colour(const std::string& state, const Paint& paint) {
  if (state == "failed" || state == "infeasible") {
    return paint.red(state);
  }
  return state == "succeeded" ? paint.green(state) : state == "running" ? paint.cyan(state) : state;
}

std::string shown(const json& job, const char* key) {
  return printable(text_at(job, key));
}

std::vector<std::string> row(const json& job) {
  const auto name = shown(job, "name");
  const auto parsed = google::JobName::parse(name);
  const auto created = google::Timestamp::parse(shown(job, "createTime"));
  // `local/...`, `slurm/...`
  const auto other =
      name.find('/') == std::string::npos ? "" : name.substr(0, name.find('/')) + " job";
  return {parsed ? parsed->id : name, parsed ? std::string{google::words_of(parsed->kind)} : other,
          submit::state_of(job).word, created ? local_time(*created) : "",
          shown(job, "displayName")};
}

/// Returns a word unchanged, or quoted if YAML would read something else.
std::string scalar(const json& value) {
  if (!value.is_string()) {
    return print_json(value);
  }
  const auto text = value.get<std::string>();
  const bool plain = !text.empty() && printable(text) == text &&
                     text.find_first_of(" \t:#'\"{}[],&*!|>%@`") == std::string::npos;
  return plain ? text : print_json(value);
}

void write(const json& value, std::size_t indentation, std::string& into);

void write_field(const std::string& head,
                 const json& value,
                 std::size_t indentation,
                 std::string& into) {
  into += std::string(indentation, ' ') + head;
  if ((value.is_object() || value.is_array()) && !value.empty()) {
    into += "\n";
    write(value, indentation + 2, into);
  } else {
    into += " " + scalar(value) + "\n";
  }
}

void write(const json& value, std::size_t indentation, std::string& into) {
  if (value.is_object()) {
    for (const auto& [key, item] : value.items()) {
      write_field(printable(key) + ":", item, indentation, into);
    }
    return;
  }
  for (const auto& item : value) {
    if (!item.is_structured() || item.empty()) {
      write_field("-", item, indentation, into);
      continue;
    }
    std::string inner;
    write(item, indentation + 2, inner);
    inner[indentation] = '-';
    into += inner;
  }
}

}  // namespace

std::string job_table(const std::vector<json>& jobs, const Paint& paint) {
  if (jobs.empty()) {
    return {};
  }
  TableRows rows{{"ID", "KIND", "STATE", "CREATED", "NAME"}};
  std::ranges::transform(jobs, std::back_inserter(rows), row);
  return text_table(rows, paint, [&](std::size_t, std::size_t column, const std::string& text) {
    return column == state_column_of_jobs ? with_colour(text, paint) : text;
  });
}

std::string job_details(const json& job) {
  std::string text;
  write(job, 0, text);
  return text;
}

namespace {

constexpr std::string_view hidden = "***";

/// Returns `api_key` for `--api-key`.
std::string variable_name(std::string_view flag) {
  const auto start = flag.find_first_not_of('-');
  return start == std::string_view::npos ? std::string{}
                                         : replace_all(std::string{flag.substr(start)}, "-", "_");
}

/// Returns `word` without a secret; `flag` is the word before it, whose value it may be.
std::string without_secret(const std::string& word, const std::string& flag) {
  const bool is_flag = word.starts_with('-');
  const auto equals = word.find('=');
  if (equals != std::string::npos && (is_flag || flag.empty()) &&
      project::looks_secret(variable_name(word.substr(0, equals)), word.substr(equals + 1))) {
    return word.substr(0, equals + 1) + std::string{hidden};
  }
  return project::looks_secret(is_flag ? "" : flag, word) ? std::string{hidden} : word;
}

/// Handles `--name=VALUE` and `--name VALUE`.
std::vector<std::string> without_secrets(const std::vector<std::string>& words) {
  std::vector<std::string> shown;
  std::string flag;
  for (const auto& word : words) {
    shown.push_back(without_secret(word, flag));
    const bool takes_next = word.starts_with('-') && word.find('=') == std::string::npos;
    flag = takes_next ? variable_name(word) : std::string{};
  }
  return shown;
}

std::vector<std::string> names_of(const std::vector<job::Variable>& variables) {
  std::vector<std::string> names;
  std::ranges::transform(variables, std::back_inserter(names),
                         [](const auto& variable) { return variable.name.value_or(""); });
  return names;
}

json pool_object(const job::Pool& pool, const std::optional<std::string>& made, std::size_t index) {
  json object{{"name", "workerpool" + std::to_string(index)}};
  if (pool.is_empty()) {
    return object;
  }
  const auto machine = pool.machine.value_or(job::Machine{});
  const auto disk = pool.disk.value_or(job::Disk{});
  const auto container = pool.container.value_or(job::Container{});
  object.update({{"replicas", pool.replicas.value_or(1)},
                 {"machine", machine.type.value_or("")},
                 {"accelerator", machine.accelerator.value_or("")},
                 {"accelerators", machine.accelerators.value_or(0)},
                 {"disk", {{"type", disk.type.value_or("")}, {"size", disk.size.value_or(0)}}},
                 {"image", (pool.is_packaged ? made : container.image).value_or("")},
                 {"is_packaged", pool.is_packaged},
                 {"command", without_secrets(container.command)},
                 {"args", without_secrets(container.args)},
                 {"variables", names_of(container.env)}});
  if (const auto& package = pool.package) {
    object.update({{"image", package->executor_image.value_or("")},
                   {"module", package->module.value_or("")},
                   {"packages", package->uris},
                   {"args", without_secrets(package->args)},
                   {"variables", names_of(package->env)}});
  }
  return object;
}

}  // namespace

json job_object(const job::Job& job,
                const std::optional<std::string>& image,
                const job::Location& location) {
  auto pools = json::array();
  for (const auto& pool : job.spec.pools) {
    pools.push_back(pool_object(pool, image, pools.size()));
  }
  json object{{"kind", job::resource_name(job.kind)},
              {"name", job.display_name.value_or("")},
              {"project", location.project.value_or("")},
              {"region", location.region.value_or("")},
              {"scheduling", job::write_message(job.spec.scheduling.value_or(job::Scheduling{}))},
              {"pools", std::move(pools)}};
  if (job::is_tuning(job.kind)) {
    object["trials"] = {{"most", job.max_trials.value_or(1)},
                        {"at_once", job.parallel_trials.value_or(1)}};
  }
  return object;
}

namespace {

const json& part_of(const json& object, const char* key) {
  static const json nothing;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : nothing;
}

const json& metrics_of(const json& trial) {
  return part_of(part_of(trial, "finalMeasurement"), "metrics");
}

/// Returns the first metric's value; nothing if the trial has none.
std::optional<double> value_of(const json& trial) {
  const auto& metrics = metrics_of(trial);
  if (!metrics.is_array() || metrics.empty()) {
    return std::nullopt;
  }
  const auto& value = part_of(metrics.front(), "value");
  return value.is_number() ? std::optional{value.get<double>()} : std::nullopt;
}

bool maximizes(const json& job) {
  const auto& metrics = part_of(part_of(job, "studySpec"), "metrics");
  return metrics.is_array() && !metrics.empty() && text_at(metrics.front(), "goal") == "MAXIMIZE";
}

std::string text_of(const json& value) {
  if (value.is_number()) {
    return fmt::format("{:.6g}", value.get<double>());
  }
  return value.is_string() ? printable(value.get<std::string>()) : print_json(value);
}

std::string pairs(const json& list, const char* name) {
  std::vector<std::string> texts;
  for (const auto& one : list) {
    texts.push_back(printable(text_at(one, name)) + "=" + text_of(part_of(one, "value")));
  }
  return join(texts, " ");
}

/// `STOPPING` is the API's final state of a trial that a rule ended.
std::string state_of(const json& trial) {
  const auto state = to_lower(printable(text_at(trial, "state")));
  return state == "stopping" && !text_at(trial, "endTime").empty() ? "stopped" : state;
}

}  // namespace

namespace {

/// Returns the trials of a job, the best first by their first metric.
std::vector<json> sorted_trials(const json& job) {
  const auto& found = part_of(job, "trials");
  if (!found.is_array()) {
    return {};
  }
  std::vector<json> trials(found.begin(), found.end());
  const bool more_is_better = maximizes(job);
  std::ranges::stable_sort(trials, [&](const json& a, const json& b) {
    const auto first = value_of(a);
    const auto second = value_of(b);
    if (!first || !second) {
      return first.has_value() && !second.has_value();
    }
    return more_is_better ? *first > *second : *first < *second;
  });
  return trials;
}

bool has_result(const json& trial) {
  return value_of(trial) && state_of(trial) == "succeeded";
}

}  // namespace

std::optional<std::string> best_trial(const json& job) {
  const auto trials = sorted_trials(job);
  const auto best = std::ranges::find_if(trials, has_result);
  if (best == trials.end()) {
    return std::nullopt;
  }
  auto text = fmt::format("trial {}: {}", printable(text_at(*best, "id")),
                          pairs(metrics_of(*best), "metricId"));
  for (const auto& one : part_of(*best, "parameters")) {
    const auto& value = part_of(one, "value");
    const auto word = value.is_string() ? value.get<std::string>() : text_of(value);
    text += fmt::format(" --{}={}", printable(text_at(one, "parameterId")), shell_quote(word));
  }
  return text;
}

std::string trial_table(const json& job, const Paint& paint) {
  const auto trials = sorted_trials(job);
  if (trials.empty()) {
    return {};
  }
  TableRows rows{{"TRIAL", "STATE", "METRICS", "PARAMETERS"}};
  for (const auto& trial : trials) {
    rows.push_back({printable(text_at(trial, "id")), state_of(trial),
                    pairs(metrics_of(trial), "metricId"),
                    pairs(part_of(trial, "parameters"), "parameterId")});
  }
  const auto best =
      static_cast<std::size_t>(std::ranges::find_if(trials, has_result) - trials.begin());
  return text_table(rows, paint, [&](std::size_t row, std::size_t column, const std::string& text) {
    if (column == state_column_of_trials) {
      return with_colour(text, paint);
    }
    return row == best + 1 ? paint.bold(text) : text;
  });
}

}  // namespace autopack::cli
