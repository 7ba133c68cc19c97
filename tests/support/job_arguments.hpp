#pragma once

#include "job/flag_values.hpp"
#include "job/make_job.hpp"
#include "job/pool_flags.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace autopack::testing {

/// Arguments as the core gets them from the command line.
struct JobArguments {
  job::JobFlags flags{};
  job::Location location{};
  std::string config_path{};
  Problems problems{};
};

inline std::vector<std::string> listed(JobArguments& to, const char* flag, std::string_view value) {
  return job::split_list(value, flag, to.problems);
}

/// Parses the value of a flag of one field; `--no-NAME` is false.
class FieldValueReader {
public:
  FieldValueReader(std::string value, bool is_on) : value_{std::move(value)}, is_on_{is_on} {}

  job::FieldValue operator()(const job::SwitchField& /*field*/) const { return is_on_; }

  job::FieldValue operator()(const job::PoolNumberField& /*field*/) const {
    return std::int64_t{std::stoll(value_)};
  }

  job::FieldValue operator()(const job::ListField& /*field*/) const {
    Problems problems;
    return job::split_list(value_, "--flag", problems);
  }

  template <class Place>
  job::FieldValue operator()(const Place& /*field*/) const {
    return value_;
  }

private:
  std::string value_;
  bool is_on_;
};

/// Returns true if `flag` sets a field.
inline bool read_field_flag(JobArguments& to, const std::string& flag, const std::string& value) {
  const bool is_off = flag.starts_with("--no-");
  const auto* const row = job::find_field_flag(is_off ? "--" + flag.substr(5) : flag);
  if (row != nullptr) {
    to.flags.fields.push_back({.flag = row,
                               .value = std::visit(FieldValueReader{value, !is_off}, row->place),
                               .origin = job::Origin::flag(std::string{row->flag})});
  }
  return row != nullptr;
}

/// Parses `--flag=value` arguments; ignores others (the command's name).
inline JobArguments read_job_arguments(const std::vector<std::string>& argv) {
  using Setter = std::function<void(JobArguments&, const std::string&)>;
  const std::map<std::string, Setter, std::less<>> setters{
      {"--display-name", [](auto& to, const auto& value) { to.flags.display_name = value; }},
      {"--region", [](auto& to, const auto& value) { to.location.region = value; }},
      {"--project", [](auto& to, const auto& value) { to.location.project = value; }},
      {"--config", [](auto& to, const auto& value) { to.config_path = value; }},
      {"--worker-pool-spec",
       [](auto& to, const auto& value) {
         auto origin = job::Origin::flag("--worker-pool-spec");
         origin.number = to.flags.pools.size() + 1;
         to.flags.pools.push_back(job::parse_pool(value, origin, to.problems));
       }},
      {"--args",
       [](auto& to, const auto& value) {
         auto items = listed(to, "--args", value);
         to.flags.args = to.flags.args.value_or(std::vector<std::string>{});
         to.flags.args->insert(to.flags.args->end(), items.begin(), items.end());
       }},
      {"--command",
       [](auto& to, const auto& value) { to.flags.command = listed(to, "--command", value); }},
      {"--python-package-uris",
       [](auto& to, const auto& value) {
         to.flags.python_package_uris = listed(to, "--python-package-uris", value);
       }},
      {"--labels",
       [](auto& to, const auto& value) {
         to.flags.labels = job::split_pairs(value, "--labels", to.problems);
       }},
      {"--env",
       [](auto& to, const auto& value) {
         to.flags.env = job::split_pairs(value, "--env", to.problems);
       }},
      {"--kms-key", [](auto& to, const auto& value) { to.flags.kms.key = value; }},
      {"--kms-keyring", [](auto& to, const auto& value) { to.flags.kms.keyring = value; }},
      {"--kms-location", [](auto& to, const auto& value) { to.flags.kms.location = value; }},
      {"--kms-project", [](auto& to, const auto& value) { to.flags.kms.project = value; }},
      {"--reservation-affinity",
       [](auto& to, const auto& value) { to.flags.reservation_affinity = value; }},
      {"--nfs-mount", [](auto& to, const auto& value) { to.flags.nfs_mounts.push_back(value); }},
      {"--lustre-mount",
       [](auto& to, const auto& value) { to.flags.lustre_mounts.push_back(value); }},
      {"--dns-peering",
       [](auto& to, const auto& value) { to.flags.dns_peerings.push_back(value); }},
      {"--as", [](auto& to, const auto& value) { to.flags.as = value; }},
      {"--metric", [](auto& to, const auto& value) { to.flags.study.metrics.push_back(value); }},
      {"--parameter",
       [](auto& to, const auto& value) { to.flags.study.parameters.push_back(value); }},
      {"--max-trial-count",
       [](auto& to, const auto& value) { to.flags.study.max_trial_count = std::stoll(value); }},
      {"--parallel-trial-count",
       [](auto& to, const auto& value) {
         to.flags.study.parallel_trial_count = std::stoll(value);
       }},
      {"--max-failed-trial-count",
       [](auto& to, const auto& value) {
         to.flags.study.max_failed_trial_count = std::stoll(value);
       }},
      {"--algorithm", [](auto& to, const auto& value) { to.flags.study.algorithm = value; }},
      {"--measurement-selection",
       [](auto& to, const auto& value) { to.flags.study.measurement_selection = value; }},
      {"--early-stopping",
       [](auto& to, const auto& value) { to.flags.study.early_stopping = value; }},
      {"--model-ports",
       [](auto& to, const auto& value) {
         to.flags.serving.ports = listed(to, "--model-ports", value);
       }},
      {"--dockerfile", [](auto& to, const auto&) { to.flags.own_dockerfile = true; }},
  };
  JobArguments result;
  for (const auto& argument : argv) {
    if (!argument.starts_with("--")) {
      result.flags.tune = result.flags.tune || argument == "tune" || argument == "hp-tuning-jobs";
      continue;
    }
    const auto equals = argument.find('=');
    const auto flag = argument.substr(0, equals);
    const auto value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    const auto found = setters.find(flag);
    if (found != setters.end()) {
      found->second(result, value);
    } else if (!read_field_flag(result, flag, value)) {
      throw std::runtime_error{"the test knows no flag " + argument};
    }
  }
  return result;
}

}  // namespace autopack::testing
