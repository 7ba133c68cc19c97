#include "job/replica_environment.hpp"

#include "base/json.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

namespace autopack::job {

namespace {

using nlohmann::json;

constexpr int port = 2222;  // of every replica, and of the torch.distributed rendezvous

constexpr std::array<std::string_view, 4> tasks{"chief", "worker", "ps", "evaluator"};

std::string task_of(std::size_t pool) {
  return std::string{pool < tasks.size() ? tasks[pool] : "worker"};
}

std::string address(const Replica& replica) {
  return fmt::format("{}:{}", replica.host, port);
}

/// Returns the job as text, as real jobs were seen to get it.
std::string job_text(const Pool& pool) {
  json job{{"python_module", ""}, {"package_uris", json::array()}, {"job_args", json::array()}};
  if (pool.package) {
    job["python_module"] = pool.package->module.value_or("");
    job["package_uris"] = pool.package->uris;
    job["job_args"] = pool.package->args;
  } else if (pool.container) {
    job["job_args"] = pool.container->args;
  }
  return print_json(job);
}

json whole(const Pool& pool, json cluster, json task, const std::optional<std::string>& trial) {
  if (trial) {
    task["trial"] = *trial;
  }
  return {{"cluster", std::move(cluster)},
          {"environment", "cloud"},
          {"task", std::move(task)},
          {"job", job_text(pool)}};
}

/// Returns the end of the `$(` reference at `begin`; npos if it is not a reference.
std::size_t reference_end(std::string_view text, std::size_t begin) {
  return text.substr(begin).starts_with("$(") ? text.find(')', begin) : std::string_view::npos;
}

std::string expanded(std::string_view text, const Variables& known) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const bool is_escaped = text.substr(at).starts_with("$$");
    const auto end = is_escaped ? std::string_view::npos : reference_end(text, at);
    if (is_escaped) {
      result += '$';
      at += 2;
    } else if (end == std::string_view::npos) {
      result += text[at++];
    } else {
      const auto found = known.find(std::string{text.substr(at + 2, end - at - 2)});
      result += found == known.end() ? std::string{text.substr(at, end + 1 - at)} : found->second;
      at = end + 1;
    }
  }
  return result;
}

}  // namespace

std::string cluster_spec(const Pool& pool,
                         const Cluster& cluster,
                         const Replica& replica,
                         const std::optional<std::string>& trial) {
  auto pools = json::object();
  for (const auto& one : cluster.replicas) {
    pools[fmt::format("workerpool{}", one.pool)].push_back(address(one));
  }
  const json task{{"type", fmt::format("workerpool{}", replica.pool)}, {"index", replica.index}};
  return print_json(whole(pool, std::move(pools), task, trial));
}

std::string tf_config(const Pool& pool,
                      const Cluster& cluster,
                      const Replica& replica,
                      const std::optional<std::string>& trial) {
  auto members = json::object();
  for (const auto& one : cluster.replicas) {
    // TensorFlow does not count evaluators as part of the cluster.
    if (task_of(one.pool) != "evaluator") {
      members[task_of(one.pool)].push_back(address(one));
    }
  }
  const json task{
      {"type", task_of(replica.pool)}, {"index", replica.index}, {"cloud", cluster.network}};
  return print_json(whole(pool, std::move(members), task, trial));
}

Variables service_variables(const Pool& pool,
                            const Cluster& cluster,
                            const Replica& replica,
                            const Surrounding& surrounding) {
  const auto& trial = surrounding.trial;
  Variables variables{
      {"CLUSTER_SPEC", cluster_spec(pool, cluster, replica, trial)},
      {"CLOUD_ML_PROJECT_ID", surrounding.project.value_or("")},
      {"CLOUD_ML_JOB_ID", cluster.job.substr(cluster.job.find('/') + 1)},
      {"MASTER_ADDR", cluster.replicas.front().host},
      {"MASTER_PORT", std::to_string(port)},
      {"RANK", std::to_string(replica.rank)},
      {"WORLD_SIZE", std::to_string(cluster.replicas.size())},
  };
  if (cluster.replicas.size() > 1) {
    variables["TF_CONFIG"] = tf_config(pool, cluster, replica, trial);
  }
  if (trial) {
    variables["CLOUD_ML_TRIAL_ID"] = *trial;
  }
  if (surrounding.output) {
    auto base = *surrounding.output + (surrounding.output->ends_with('/') ? "" : "/");
    base += trial ? *trial + "/" : "";
    variables["AIP_MODEL_DIR"] = base + "model/";
    variables["AIP_CHECKPOINT_DIR"] = base + "checkpoints/";
    variables["AIP_TENSORBOARD_LOG_DIR"] = base + "logs/";
  }
  return variables;
}

Variables with_own(Variables known, const std::vector<Variable>& own) {
  for (const auto& variable : own) {
    const auto value = expanded(variable.value.value_or(""), known);
    known[variable.name.value_or("")] = value;
  }
  return known;
}

}  // namespace autopack::job
