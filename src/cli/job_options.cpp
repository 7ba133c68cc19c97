#include "cli/job_options.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "cli/named_files.hpp"
#include "cli/settings.hpp"
#include "job/flag_values.hpp"
#include "job/pool_flags.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <iostream>

namespace autopack::cli {

namespace {

std::vector<std::string> elements(const std::vector<std::string>& values,
                                  const std::string& flag,
                                  Problems& problems) {
  std::vector<std::string> all;
  for (const auto& value : values) {
    const auto more = job::split_list(value, flag, problems);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<std::pair<std::string, std::string>> pairs(const std::vector<std::string>& values,
                                                       const std::string& flag,
                                                       Problems& problems) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& value : values) {
    const auto more = job::split_pairs(value, flag, problems);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

/// The pools of every place that names some; the first place wins, key by key.
std::vector<job::PoolFlags> pools_of(const std::vector<FlagSetting>& places, Problems& problems) {
  std::vector<job::PoolFlags> pools;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    for (std::size_t i = 0; i < place->values.size(); ++i) {
      const std::string origin = place->values.size() == 1
                                     ? place->origin
                                     : fmt::format("{} number {}", place->origin, i + 1);
      auto pool = job::parse_pool(place->values[i], origin, problems);
      if (i < pools.size()) {
        pools[i] = job::overlaid(std::move(pools[i]), pool);
      } else {
        pools.push_back(std::move(pool));
      }
    }
  }
  return pools;
}

}  // namespace

void add_job_flags(FlagSet& flags, JobOptions& options) {
  auto& job = options.flags;
  flags.section("Job");
  flags.text("--display-name", "NAME", job.display_name, "job name; default: the directory's");
  flags.list("--worker-pool-spec", "KEY=VALUE,...", options.pools,
             "one pool each time; empty: an unused pool");
  flags.text("--config", "FILE", options.config, "a job as the API has it; - is stdin");
  flags.list("--args", "ARG,...", options.args, "arguments of the program");
  flags.list("--env", "NAME=VALUE,...", options.env, "environment variables");
  flags.list("--labels", "KEY=VALUE,...", options.labels, "labels of the job");
  flags.text("--service-account", "EMAIL", job.service_account, "account the job runs as");
  flags.text("--timeout", "TIME", job.timeout, "longest run: 3600s, 90m, 2h, 7d");
  flags.section("More of the job", false);
  flags.list("--command", "WORD,...", options.command, "replaces the image's entry point");
  flags.list("--python-package-uris", "URI,...", options.python_package_uris,
             "packages in Cloud Storage, with an executor image");
  flags.text("--network", "NAME", job.network, "VPC network to peer with");
  flags.text("--persistent-resource-id", "ID", job.persistent_resource_id, "machines kept ready");
  flags.choice("--enable-web-access", job.enable_web_access, "shell in the running job");
  flags.choice("--enable-dashboard-access", job.enable_dashboard_access,
               "ports of the running job");
  flags.text("--kms-key", "KEY", job.kms_key, "encryption key, or its whole resource name");
  flags.text("--kms-keyring", "RING", job.kms_keyring, "key ring of the key");
  flags.text("--kms-location", "REGION", job.kms_location, "location of the key");
  flags.text("--kms-project", "ID", job.kms_project, "project of the key");
  flags.text("--strategy", "NAME", job.strategy, "STANDARD, SPOT, FLEX_START");
  flags.text("--max-wait-duration", "TIME", job.max_wait_duration, "longest wait for machines");
  flags.choice("--restart-on-worker-restart", job.restart_on_worker_restart, "restart all workers");
  flags.choice("--disable-retries", job.disable_retries, "do not retry a failed job");
  flags.text("--base-output-dir", "GS_URI", job.base_output_dir, "AIP_MODEL_DIR and the like");
  flags.text("--tensorboard", "NAME", job.tensorboard, "Tensorboard that is written to");
  flags.text("--boot-disk-type", "TYPE", job.boot_disk_type, "pd-ssd, pd-standard");
  flags.number("--boot-disk-size", "GB", job.boot_disk_size, "size of the boot disk");
  flags.text("--tpu-topology", "SHAPE", job.tpu_topology, "2x2x1");
  flags.text("--gpu-partition-size", "SIZE", job.gpu_partition_size, "part of a GPU: 1g.10gb");
  flags.list("--nfs-mount", "KEY=VALUE,...", job.nfs_mounts,
             "server=HOST,path=PATH,mount-point=NAME; one each time");
  flags.list("--lustre-mount", "KEY=VALUE,...", job.lustre_mounts,
             "keys instance-ip, volume-handle, filesystem, mount-point; one each time");
  flags.text("--reservation-affinity", "KEY=VALUE,...", job.reservation_affinity,
             "reservation-affinity-type=any; or specific, with key=KEY,values=NAME;NAME");
  flags.text("--network-attachment", "NAME", job.network_attachment,
             "Private Service Connect instead of --network");
  flags.list("--dns-peering", "KEY=VALUE,...", job.dns_peerings,
             "keys domain, target-project, target-network; one each time");
  flags.list("--reserved-ip-ranges", "NAME,...", options.reserved_ip_ranges,
             "address ranges of the network");
  flags.text("--experiment", "NAME", job.experiment, "experiment that the job belongs to");
  flags.text("--experiment-run", "NAME", job.experiment_run, "run of the experiment");
  flags.list("--models", "NAME,...", options.models, "models that get a checkpoint of the job");
  flags.text("--protected-artifact-location", "REGION", job.protected_artifact_location,
             "location of protected artifacts");
}

job::JobFlags job_flags(const JobOptions& options, const FlagSet& typed, Problems& problems) {
  job::JobFlags flags = options.flags;
  const std::string named = typed.origin("--display-name");
  if (!named.empty() && flags.display_name.empty()) {
    problems.push_back(
        {.message = named + " is empty", .hints = {"leave it out to use the directory's name"}});
  }
  flags.pools = pools_of(typed.given("--worker-pool-spec"), problems);
  if (!typed.origin("--args").empty()) {
    flags.args = elements(options.args, "--args", problems);
  }
  if (!typed.origin("--command").empty()) {
    flags.command = elements(options.command, "--command", problems);
  }
  flags.python_package_uris =
      elements(options.python_package_uris, "--python-package-uris", problems);
  flags.labels = pairs(options.labels, "--labels", problems);
  flags.env = pairs(options.env, "--env", problems);
  flags.reserved_ip_ranges = elements(options.reserved_ip_ranges, "--reserved-ip-ranges", problems);
  flags.models = elements(options.models, "--models", problems);
  auto& pipeline = flags.pipeline;
  pipeline.model_ports = elements(options.model_ports, "--model-ports", problems);
  pipeline.model_env = pairs(options.model_env, "--model-env", problems);
  pipeline.model_labels = pairs(options.model_labels, "--model-labels", problems);
  pipeline.model_version_aliases =
      elements(options.model_version_aliases, "--model-version-aliases", problems);
  return flags;
}

std::optional<job::Config> read_config(const std::string& file,
                                       const std::string& source,
                                       const Environment& environment,
                                       Problems& problems) {
  if (file.empty()) {
    return std::nullopt;
  }
  if (file == "-") {
    const std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
    return job::parse_config(text, file, problems);
  }
  // An object of a file of settings, moved down to its line; or typed, as JSON.
  if (file.find('\n') != std::string::npos || trim(file).starts_with('{')) {
    return job::parse_config(file, settings_file_name, problems);
  }
  const auto named = read_named_file("--config", file, source, environment, problems);
  return job::parse_config(named.text, named.name, problems, named.printed_by);
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)));
}

}  // namespace autopack::cli
