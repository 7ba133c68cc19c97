#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/cluster.hpp"
#include "job/machine_size.hpp"
#include "slurm/commands.hpp"
#include "slurm/script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace autopack::slurm {

namespace {

constexpr auto* submitter_origin = "`--submitter=slurm`";
constexpr std::size_t most_replicas{512};

/// Names that the shell or srun itself uses.
constexpr std::array reserved_names{"UID",           "EUID",       "PPID", "SHELLOPTS", "BASHOPTS",
                                    "BASH_VERSINFO", "LD_PRELOAD", "ENV",  "BASH_ENV",  "LD_AUDIT"};
constexpr std::array reserved_prefixes{"SLURM_", "SRUN_", "SBATCH_", "autopack_"};

/// Returns the number of replicas of all pools.
std::size_t count_replicas(const job::Spec& spec) {
  std::size_t total = 0;
  for (const auto count : job::replica_counts(spec)) {
    total += count;
  }
  return total;
}

void refuse(Problems& problems, const std::string& what, std::vector<std::string> hints = {}) {
  problems.push_back({.message = fmt::format("{} has no place in a job of Slurm", what),
                      .origin = submitter_origin,
                      .hints = std::move(hints)});
}

void check_variables(const job::Pool& pool, std::size_t index, Problems& problems) {
  for (const auto& variable : pool.container->env) {
    const auto name = variable.name.value_or("");
    if (!is_variable_name(name)) {
      problems.push_back(
          {.message = fmt::format("`{}` is not a name that a shell accepts for a variable",
                                  printable(name)),
           .origin = fmt::format("{}.containerSpec.env", job::pool_path(index)),
           .hints = {"use letters, digits and `_`: Slurm passes variables through a shell"}});
    } else if (is_reserved(name)) {
      problems.push_back({.message = fmt::format(
                              "`{}` belongs to Slurm or to the shell of the job's script", name),
                          .origin = fmt::format("{}.containerSpec.env", job::pool_path(index)),
                          .hints = {"set it in the image, or in the program"}});
    }
  }
}

void check_pool(const job::Pool& pool, std::size_t index, Problems& problems) {
  const auto where = fmt::format(" of pool {}", index);
  if (pool.package) {
    refuse(problems, "`pythonPackageSpec`" + where,
           {"package the project: `--script`, `--python-module`"});
  }
  if (pool.disk) {
    refuse(problems, "`diskSpec`" + where);
  }
  if (!pool.nfs_mounts.empty()) {
    refuse(problems, "`nfsMounts`" + where,
           {"`--container-mounts=DIR:DIR` shows the program what the nodes have mounted"});
  }
  if (!pool.lustre_mounts.empty()) {
    refuse(problems, "`lustreMounts`" + where,
           {"`--container-mounts=DIR:DIR` shows the program what the nodes have mounted"});
  }
  if (pool.container) {
    check_variables(pool, index, problems);
  }
  if (!pool.machine) {
    return;
  }
  const auto& machine = *pool.machine;
  if (machine.tpu_topology || machine.accelerator.value_or("").starts_with("TPU")) {
    refuse(problems, "a TPU" + where);
  }
  if (machine.gpu_partition_size) {
    refuse(problems, "`gpuPartitionSize`" + where,
           {"`--gres=gpu:1g.10gb:1` names a part of a GPU as the cluster does"});
  }
  if (machine.reservation) {
    refuse(problems, "`reservationAffinity`" + where);
  }
  if (machine.type && !job::find_machine_size(*machine.type)) {
    problems.push_back(
        {.message = fmt::format("the size of `{}` is not known, so that Slurm cannot be asked for "
                                "as much",
                                printable(*machine.type)),
         .origin = submitter_origin,
         .hints = {"leave the machine type out: `--partition` and `--gres` choose the nodes"}});
  }
}

void check_spec(const job::Spec& spec, Problems& problems) {
  const std::array<std::pair<bool, const char*>, 12> parts{{
      {spec.service_account.has_value(), "`serviceAccount`"},
      {spec.network.has_value(), "`network`"},
      {!spec.reserved_ip_ranges.empty(), "`reservedIpRanges`"},
      {spec.psc_interface.has_value(), "`pscInterfaceConfig`"},
      {spec.tensorboard.has_value(), "`tensorboard`"},
      {spec.enable_web_access.value_or(false), "`enableWebAccess`"},
      {spec.enable_dashboard_access.value_or(false), "`enableDashboardAccess`"},
      {spec.experiment.has_value(), "`experiment`"},
      {spec.experiment_run.has_value(), "`experimentRun`"},
      {!spec.models.empty(), "`models`"},
      {spec.persistent_resource.has_value(), "`persistentResourceId`"},
      {spec.protected_artifact_location.has_value(), "`protectedArtifactLocationId`"},
  }};
  for (const auto& [is_there, name] : parts) {
    if (is_there) {
      refuse(problems, name);
    }
  }
}

void check_scheduling(const job::Job& job, const QueueOptions& queue, Problems& problems) {
  if (!job.spec.scheduling) {
    return;
  }
  const auto& scheduling = *job.spec.scheduling;
  const auto strategy = scheduling.strategy.value_or("");
  if (!strategy.empty() && strategy != "STANDARD" && strategy != "ON_DEMAND") {
    refuse(problems, fmt::format("the strategy `{}`", printable(strategy)),
           {"`--partition` or `--qos` names nodes that other jobs may take"});
  }
  if (scheduling.max_wait) {
    refuse(problems, "`maxWaitDuration`");
  }
  if (scheduling.restart_on_worker_restart.value_or(false)) {
    refuse(problems, "`restartJobOnWorkerRestart`",
           {"Slurm starts the whole job again after the failure of a node, and never a part"});
  }
  if (scheduling.timeout && !seconds_of(*scheduling.timeout)) {
    problems.push_back(
        {.message = fmt::format("`{}` is not a time in seconds", printable(*scheduling.timeout)),
         .origin = "jobSpec.scheduling.timeout"});
  }
  if (scheduling.timeout && queue.time) {
    problems.push_back({.message = "`--time` and `--timeout` both limit the job's time",
                        .origin = submitter_origin,
                        .hints = {"use one of them"}});
  }
}

/// Values are in `#SBATCH` lines without quotes.
bool is_option_value(std::string_view text, std::string_view signs) {
  constexpr std::size_t longest{1000};
  return !text.empty() && text.size() <= longest && text.front() != '-' &&
         is_alphanumeric(text, signs);
}

void check_options(const QueueOptions& queue, Problems& problems) {
  const auto check = [&](const std::optional<std::string>& value, const char* flag,
                         std::string_view signs, const char* hint) {
    if (value && !is_option_value(*value, signs)) {
      problems.push_back(
          {.message = fmt::format("`{}={}` has a character that Slurm does not accept there", flag,
                                  printable(*value)),
           .hints = {hint}});
    }
  };
  check(queue.partition, "--partition", "_-.,+", "`--partition=gpu`; see them: sinfo -s");
  check(queue.account, "--slurm-account", "_-.@+", "see yours: sacctmgr show associations");
  check(queue.qos, "--qos", "_-.@+", "see them: sacctmgr show qos");
  check(queue.gres, "--gres", "_-.:,()=", "`--gres=gpu:2`, `--gres=gpu:a100:8`");
  const auto word = to_lower(queue.time.value_or(""));
  if (queue.time && word != "unlimited" && word != "infinite" && !read_slurm_time(*queue.time)) {
    problems.push_back({.message = fmt::format("`--time={}` is not a time in Slurm's form",
                                               printable(*queue.time)),
                        .hints = {"`--time=30` minutes, `2:00:00`, `1-12:00:00`"}});
  }
  check(queue.signal, "--signal", ":@", "`--signal=USR1@120`: 120 seconds before the time limit");
}

}  // namespace

bool is_variable_name(std::string_view name) {
  return !name.empty() && !is_digit(name.front()) && is_alphanumeric(name, "_");
}

bool is_reserved(const std::string& name) {
  return contains(reserved_names, name) ||
         std::ranges::any_of(reserved_prefixes,
                             [&](const char* prefix) { return name.starts_with(prefix); });
}

std::optional<std::int64_t> seconds_of(const std::string& duration) {
  double seconds = 0;
  const auto* const end = duration.data() + duration.size();
  const auto [stop, code] = std::from_chars(duration.data(), end, seconds);
  constexpr double most{1e9};
  if (code != std::errc{} || stop + 1 != end || *stop != 's' || !(seconds > 0) || seconds > most) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(std::ceil(seconds));
}

Problems check_for_slurm(const job::Job& job, const QueueOptions& queue) {
  Problems problems;
  if (job::is_tuning(job.kind)) {
    refuse(problems, "a study", {"`autopack tune --submitter=local` runs one here"});
  } else if (job::is_pipeline(job.kind)) {
    refuse(problems, "a training pipeline", {"leave `--as` out: its training alone can run"});
  }
  if (job.encryption) {
    refuse(problems, "`encryptionSpec`");
  }
  check_spec(job.spec, problems);
  for (std::size_t i = 0; i < job.spec.pools.size(); ++i) {
    check_pool(job.spec.pools[i], i, problems);
  }
  check_scheduling(job, queue, problems);
  check_options(queue, problems);
  if (const auto total = count_replicas(job.spec); total > most_replicas) {
    problems.push_back(
        {.message = fmt::format("the job has {} replicas; its script starts at most {}", total,
                                most_replicas),
         .origin = submitter_origin});
  }
  if (job.spec.output) {
    problems.push_back(Problem::warning(
        {.message = fmt::format("Slurm does not mount `{}`: the programs need credentials for it",
                                printable(job.spec.output->uri.value_or(""))),
         .origin = "baseOutputDirectory",
         .hints = {"a program can also write to $AUTOPACK_JOB_DIRECTORY, which is shared"}}));
  }
  return problems;
}

}  // namespace autopack::slurm
