#include "cli/joined_attempts.hpp"

#include "base/contains.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "google/job_name.hpp"
#include "job/candidates.hpp"
#include "submit/group.hpp"
#include "submit/submitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace autopack::cli {

using google::JobName;
using nlohmann::json;

namespace {

constexpr std::size_t most_elsewhere{1000};

/// Returns the group of a job that is one of several attempts, or may be the first of them.
std::string group_in(const json& job, const std::set<std::string>& groups) {
  const auto group = submit::group_of(job);
  return groups.contains(group) ? group : "";
}

std::set<std::string> groups_of(const std::vector<json>& jobs) {
  std::set<std::string> groups;
  for (const auto& job : jobs) {
    if (submit::labels_of(job).contains(submit::group_label)) {
      groups.insert(submit::group_of(job));
    }
  }
  return groups;
}

std::string place_of(const json& job) {
  const auto name = JobName::parse(text_at(job, "name"));
  return name ? name->region : "";
}

std::string id_of(const json& job) {
  const auto name = text_at(job, "name");
  return printable(name.substr(name.rfind('/') + 1));
}

/// `attempts` are all of one group, by number.
json joined(const std::vector<json>& attempts) {
  auto job = attempts.back();
  const auto number = submit::attempt_number(job);
  if (number == 1 && attempts.size() == 1) {
    return job;
  }
  std::vector<std::string> before;
  for (auto one = attempts.begin(); one + 1 != attempts.end(); ++one) {
    before.push_back(fmt::format("{} in {}", id_of(*one), place_of(*one)));
  }
  job["displayName"] =
      fmt::format("{} (attempt {} in {}{}{})", text_at(job, "displayName"), number, place_of(job),
                  before.empty() ? "" : "; before: ", join(before, ", "));
  return job;
}

}  // namespace

std::vector<json> attempts_elsewhere(const google::Jobs& service,
                                     const std::vector<json>& jobs,
                                     const std::vector<std::string>& regions,
                                     Reporter& reporter) {
  std::set<std::tuple<std::string, google::JobKind, std::string>> places;
  for (const auto& job : jobs) {
    const auto name = JobName::parse(text_at(job, "name"));
    const auto lists = job::read_candidate_labels(submit::labels_of(job));
    for (const auto& region : name ? lists.regions : std::vector<std::string>{}) {
      if (!contains(regions, region) && google::is_name_part(region)) {
        places.insert({name->project, name->kind, region});
      }
    }
  }
  std::vector<json> found;
  for (const auto& [project, kind, region] : places) {
    try {
      service.list({.project = project,
                    .region = region,
                    .kind = kind,
                    .filter = fmt::format("labels.{}:*", submit::group_label)},
                   [&](const google::Job& job) {
                     found.push_back(*job);
                     return found.size() < most_elsewhere;
                   });
    } catch (const Error& error) {
      reporter.detail(fmt::format("attempts in {} are not listed: {}", region, error.message()));
    }
  }
  return found;
}

std::vector<json> join_attempts(const std::vector<json>& jobs, const std::vector<json>& others) {
  auto groups = groups_of(jobs);
  std::map<std::string, std::vector<json>> attempts;
  for (const auto* list : {&jobs, &others}) {
    for (const auto& job : *list) {
      if (const auto group = group_in(job, groups); !group.empty()) {
        attempts[group].push_back(job);
      }
    }
  }
  for (auto& [group, all] : attempts) {
    std::ranges::stable_sort(all, {}, [](const json& job) { return submit::attempt_number(job); });
  }
  std::vector<json> rows;
  for (const auto& job : jobs) {
    const auto group = group_in(job, groups);
    if (group.empty()) {
      rows.push_back(job);
    } else if (const auto found = attempts.find(group); found != attempts.end()) {
      rows.push_back(joined(found->second));
      attempts.erase(found);
    }
  }
  return rows;
}

}  // namespace autopack::cli
