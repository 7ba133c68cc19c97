#pragma once

#include "job/flag_values.hpp"
#include "job/job.hpp"

#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
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

/// Reads `--flag=value` arguments; others (the command's name) are passed over.
inline JobArguments read_job_arguments(const std::vector<std::string>& argv) {
  using Setter = std::function<void(JobArguments&, const std::string&)>;
  const auto text = [](auto member) {
    return [member](JobArguments& to, const std::string& value) { to.flags.*member = value; };
  };
  const std::map<std::string, Setter, std::less<>> setters{
      {"--display-name", text(&job::JobFlags::display_name)},
      {"--region", [](auto& to, const auto& value) { to.location.region = value; }},
      {"--project", [](auto& to, const auto& value) { to.location.project = value; }},
      {"--config", [](auto& to, const auto& value) { to.config_path = value; }},
      {"--worker-pool-spec",
       [](auto& to, const auto& value) {
         const auto origin =
             "`--worker-pool-spec` number " + std::to_string(to.flags.pools.size() + 1);
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
      {"--network", text(&job::JobFlags::network)},
      {"--service-account", text(&job::JobFlags::service_account)},
      {"--persistent-resource-id", text(&job::JobFlags::persistent_resource_id)},
      {"--enable-web-access", [](auto& to, const auto&) { to.flags.enable_web_access = true; }},
      {"--no-enable-web-access", [](auto& to, const auto&) { to.flags.enable_web_access = false; }},
      {"--no-enable-dashboard-access",
       [](auto& to, const auto&) { to.flags.enable_dashboard_access = false; }},
      {"--enable-dashboard-access",
       [](auto& to, const auto&) { to.flags.enable_dashboard_access = true; }},
      {"--kms-key", text(&job::JobFlags::kms_key)},
      {"--kms-keyring", text(&job::JobFlags::kms_keyring)},
      {"--kms-location", text(&job::JobFlags::kms_location)},
      {"--kms-project", text(&job::JobFlags::kms_project)},
      {"--timeout", text(&job::JobFlags::timeout)},
      {"--strategy", text(&job::JobFlags::strategy)},
      {"--max-wait-duration", text(&job::JobFlags::max_wait_duration)},
      {"--restart-on-worker-restart",
       [](auto& to, const auto&) { to.flags.restart_on_worker_restart = true; }},
      {"--disable-retries", [](auto& to, const auto&) { to.flags.disable_retries = true; }},
      {"--base-output-dir", text(&job::JobFlags::base_output_dir)},
      {"--tensorboard", text(&job::JobFlags::tensorboard)},
      {"--boot-disk-type", text(&job::JobFlags::boot_disk_type)},
      {"--boot-disk-size",
       [](auto& to, const auto& value) { to.flags.boot_disk_size = std::stoll(value); }},
      {"--tpu-topology", text(&job::JobFlags::tpu_topology)},
      {"--gpu-partition-size", text(&job::JobFlags::gpu_partition_size)},
      {"--reservation-affinity", text(&job::JobFlags::reservation_affinity)},
      {"--network-attachment", text(&job::JobFlags::network_attachment)},
      {"--experiment", text(&job::JobFlags::experiment)},
      {"--experiment-run", text(&job::JobFlags::experiment_run)},
      {"--protected-artifact-location", text(&job::JobFlags::protected_artifact_location)},
      {"--nfs-mount", [](auto& to, const auto& value) { to.flags.nfs_mounts.push_back(value); }},
      {"--lustre-mount",
       [](auto& to, const auto& value) { to.flags.lustre_mounts.push_back(value); }},
      {"--dns-peering",
       [](auto& to, const auto& value) { to.flags.dns_peerings.push_back(value); }},
      {"--reserved-ip-ranges",
       [](auto& to, const auto& value) {
         to.flags.reserved_ip_ranges = listed(to, "--reserved-ip-ranges", value);
       }},
      {"--models",
       [](auto& to, const auto& value) { to.flags.models = listed(to, "--models", value); }},
      {"--as", text(&job::JobFlags::as)},
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
      {"--dataset-id", [](auto& to, const auto& value) { to.flags.pipeline.dataset_id = value; }},
      {"--model-id", [](auto& to, const auto& value) { to.flags.pipeline.model_id = value; }},
      {"--parent-model",
       [](auto& to, const auto& value) { to.flags.pipeline.parent_model = value; }},
      {"--model-display-name",
       [](auto& to, const auto& value) { to.flags.pipeline.model_display_name = value; }},
      {"--model-image-uri",
       [](auto& to, const auto& value) { to.flags.pipeline.model_image_uri = value; }},
      {"--model-artifact-uri",
       [](auto& to, const auto& value) { to.flags.pipeline.model_artifact_uri = value; }},
      {"--model-ports",
       [](auto& to, const auto& value) {
         to.flags.pipeline.model_ports = listed(to, "--model-ports", value);
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
    const auto found = setters.find(argument.substr(0, equals));
    if (found == setters.end()) {
      throw std::runtime_error{"the test knows no flag " + argument};
    }
    found->second(result, equals == std::string::npos ? "" : argument.substr(equals + 1));
  }
  return result;
}

}  // namespace autopack::testing
