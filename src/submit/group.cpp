#include "submit/group.hpp"

#include "base/digest.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "submit/submitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::submit {

using nlohmann::json;

namespace {

constexpr std::size_t longest_id{63};

const json* member(const json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? &*found : nullptr;
}

/// Returns the jobs of a region that may belong to the group. Some collections cannot be filtered
/// by labels: those are filtered by name.
void search(const google::Jobs& jobs,
            google::JobQuery query,
            const std::string& group,
            const std::string& display_name,
            const std::function<bool(const google::Job& job)>& each) {
  query.filter = fmt::format("labels.{}=\"{}\"", group_label, group);
  try {
    jobs.list(query, each);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::remote || query.kind != google::JobKind::pipeline) {
      throw;
    }
    query.filter = "display_name=" + double_quoted(display_name);
    jobs.list(query, each);
  }
}

}  // namespace

std::map<std::string, std::string> labels_of(const json& job) {
  std::map<std::string, std::string> labels;
  const auto* const found = member(job, "labels");
  if (found != nullptr && found->is_object()) {
    for (const auto& [name, value] : found->items()) {
      if (value.is_string()) {
        labels[name] = value.get<std::string>();
      }
    }
  }
  return labels;
}

std::string group_of(const json& job) {
  const auto labels = labels_of(job);
  for (const auto* name : {group_label, submission_label}) {
    const auto found = labels.find(name);
    if (found != labels.end() && !found->second.empty() && found->second.size() <= longest_id &&
        is_alphanumeric(found->second, "-_")) {
      return found->second;
    }
  }
  return sha256(text_at(job, "name")).hex().substr(0, 32);
}

std::size_t attempt_number(const json& job) {
  constexpr std::size_t most_digits{4};
  const auto labels = labels_of(job);
  const auto found = labels.find(attempt_label);
  const bool is_number = found != labels.end() && !found->second.empty() &&
                         found->second.size() <= most_digits &&
                         std::ranges::all_of(found->second, is_digit);
  return is_number ? std::stoul(found->second) : 1;
}

std::optional<std::string> accelerator_of(const json& job) {
  const auto* spec = &job;
  // A pipeline's task may contain the job of trials.
  for (const auto* key : {"jobSpec", "trainingTaskInputs", "trialJobSpec"}) {
    const auto* const inner = member(*spec, key);
    spec = inner == nullptr ? spec : inner;
  }
  const auto* const pools = member(*spec, "workerPoolSpecs");
  if (pools == nullptr || !pools->is_array() || pools->empty()) {
    return std::nullopt;
  }
  const auto* const machine = member(pools->front(), "machineSpec");
  return machine == nullptr ? std::nullopt : non_empty(text_at(*machine, "acceleratorType"));
}

std::vector<ListedAttempt> list_attempts(const google::Jobs& jobs,
                                         const ListedAttempt& first,
                                         const std::vector<std::string>& regions) {
  const auto group = group_of(*first.job);
  std::vector<ListedAttempt> attempts{first};
  for (const auto& region : regions) {
    const google::JobQuery query{
        .project = first.name.project, .region = region, .kind = first.name.kind};
    search(jobs, query, group, text_at(*first.job, "displayName"), [&](const google::Job& job) {
      const auto name = google::JobName::parse(text_at(*job, "name"));
      const bool is_known = !name || std::ranges::any_of(attempts, [&](const auto& one) {
        return one.name.region == name->region && one.name.id == name->id;
      });
      if (!is_known && group_of(*job) == group) {
        attempts.push_back({.name = *name, .number = attempt_number(*job), .job = job});
      }
      return true;
    });
  }
  std::ranges::stable_sort(attempts, {}, &ListedAttempt::number);
  return attempts;
}

bool was_tried(const std::vector<ListedAttempt>& attempts, const job::Candidate& candidate) {
  return std::ranges::any_of(attempts, [&](const ListedAttempt& one) {
    return one.name.region == candidate.region &&
           (!candidate.accelerator || accelerator_of(*one.job) == candidate.accelerator);
  });
}

}  // namespace autopack::submit
