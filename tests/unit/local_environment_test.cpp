#include "base/json.hpp"
#include "job/replica_environment.hpp"
#include "local/cluster.hpp"
#include "local/host_resources.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::local_environment_test {

using nlohmann::json;

namespace {

using Counts = std::vector<std::size_t>;

job::Pool pool_with(const std::string& image) {
  return {.machine = job::Machine{.type = "n1-standard-4"},
          .container = job::Container{.image = image, .args = {"--epochs=1"}}};
}

/// The service's documents name the hosts of one job by `ab`.
std::string documented(std::string text, const local::Cluster& cluster) {
  const auto& host = cluster.replicas.front().host;
  const auto begin = std::string_view{"cmle-training-workerpool0-"}.size();
  const auto hash = host.substr(begin, host.rfind('-') - begin);
  for (auto at = text.find(hash); at != std::string::npos; at = text.find(hash, at)) {
    text.replace(at, hash.size(), "ab");
  }
  return text;
}

json without_job(const std::string& text) {
  auto document = parse_json(text);
  document.erase("job");
  return document;
}

}  // namespace

TEST_CASE("CLUSTER_SPEC is the service's documented sample") {
  const auto cluster = local::plan_cluster({1, 2, 2, 3}, "7", "TRIAL_ID");
  const auto text = job::cluster_spec(pool_with("x"), cluster, cluster.replicas[0], "TRIAL_ID");
  CHECK(without_job(documented(text, cluster)) == parse_json(R"({
    "cluster": {
      "workerpool0": ["cmle-training-workerpool0-ab-0:2222"],
      "workerpool1": ["cmle-training-workerpool1-ab-0:2222", "cmle-training-workerpool1-ab-1:2222"],
      "workerpool2": ["cmle-training-workerpool2-ab-0:2222", "cmle-training-workerpool2-ab-1:2222"],
      "workerpool3": ["cmle-training-workerpool3-ab-0:2222", "cmle-training-workerpool3-ab-1:2222",
                      "cmle-training-workerpool3-ab-2:2222"]
    },
    "environment": "cloud",
    "task": {"type": "workerpool0", "index": 0, "trial": "TRIAL_ID"}
  })"));
}

TEST_CASE("TF_CONFIG is the service's documented sample") {
  const auto cluster = local::plan_cluster({1, 2, 1}, "7", "1");
  const auto text = job::tf_config(pool_with("x"), cluster, cluster.replicas[1], "1");
  auto document = without_job(documented(text, cluster));
  CHECK(document["task"]["cloud"].is_string());
  document["task"].erase("cloud");
  CHECK(document == parse_json(R"({
    "cluster": {
      "chief": ["cmle-training-workerpool0-ab-0:2222"],
      "ps": ["cmle-training-workerpool2-ab-0:2222"],
      "worker": ["cmle-training-workerpool1-ab-0:2222", "cmle-training-workerpool1-ab-1:2222"]
    },
    "environment": "cloud",
    "task": {"index": 0, "trial": "1", "type": "worker"}
  })"));
}

TEST_CASE("roles follow the places of pools, and evaluators are in no cluster of TensorFlow's") {
  struct Case {
    Counts counts;
    std::size_t replica;
    std::string type;
    std::string task;
    std::vector<std::string> members;
  };

  for (const auto& item : std::vector<Case>{
           {{1, 1}, 0, "workerpool0", "chief", {"chief", "worker"}},
           {{1, 0, 2}, 2, "workerpool2", "ps", {"chief", "ps"}},
           {{1, 0, 0, 1}, 1, "workerpool3", "evaluator", {"chief"}},
           {{1, 2, 1, 1}, 4, "workerpool3", "evaluator", {"chief", "ps", "worker"}},
       }) {
    CAPTURE(item.task);
    const auto cluster = local::plan_cluster(item.counts, "7");
    const auto& replica = cluster.replicas.at(item.replica);
    const auto spec = parse_json(job::cluster_spec(pool_with("x"), cluster, replica, std::nullopt));
    const auto config = parse_json(job::tf_config(pool_with("x"), cluster, replica, std::nullopt));
    CHECK(spec["task"]["type"] == item.type);
    CHECK_FALSE(spec["task"].contains("trial"));
    CHECK(config["task"]["type"] == item.task);
    std::vector<std::string> members;
    for (const auto& [name, hosts] : config["cluster"].items()) {
      members.push_back(name);
    }
    CHECK(members == item.members);
    CHECK(parse_json(spec["job"].get<std::string>())["job_args"] == json{"--epochs=1"});
  }
}

TEST_CASE("torch's variables count every replica, and one alone has no TF_CONFIG") {
  const auto cluster = local::plan_cluster({1, 2, 0, 1}, "1795170393174");
  const auto variables =
      job::service_variables(pool_with("x"), cluster, cluster.replicas[3],
                             {.project = "123", .output = "/gcs/bucket/run", .trial = "4"});
  CHECK(variables.at("RANK") == "3");
  CHECK(variables.at("WORLD_SIZE") == "4");
  CHECK(variables.at("MASTER_ADDR") == cluster.replicas[0].host);
  CHECK(variables.at("MASTER_PORT") == "2222");
  CHECK(variables.at("CLOUD_ML_PROJECT_ID") == "123");
  CHECK(variables.at("CLOUD_ML_JOB_ID") == "1795170393174");
  CHECK(variables.at("CLOUD_ML_TRIAL_ID") == "4");
  CHECK(variables.at("AIP_MODEL_DIR") == "/gcs/bucket/run/4/model/");
  CHECK(variables.at("AIP_CHECKPOINT_DIR") == "/gcs/bucket/run/4/checkpoints/");
  CHECK(variables.at("AIP_TENSORBOARD_LOG_DIR") == "/gcs/bucket/run/4/logs/");

  const auto alone = local::plan_cluster({1}, "7");
  const auto few = job::service_variables(pool_with("x"), alone, alone.replicas[0], {});
  CHECK(few.contains("CLUSTER_SPEC"));
  CHECK_FALSE(few.contains("TF_CONFIG"));
  CHECK_FALSE(few.contains("AIP_MODEL_DIR"));
  CHECK_FALSE(few.contains("CLOUD_ML_TRIAL_ID"));
}

TEST_CASE("values refer to earlier variables") {
  const auto all = job::with_own({{"SERVICE", "s"}}, {{.name = "A", .value = "$(SERVICE)-1"},
                                                      {.name = "B", .value = "$(A)$(GONE)"},
                                                      {.name = "C", .value = "$$(A) $(A"},
                                                      {.name = "SERVICE", .value = "mine"}});
  CHECK(all.at("A") == "s-1");
  CHECK(all.at("B") == "s-1$(GONE)");
  CHECK(all.at("C") == "$(A) $(A");
  CHECK(all.at("SERVICE") == "mine");
}

TEST_CASE("a limit takes replicas from the largest pools, and leaves each pool one") {
  struct Case {
    Counts counts;
    std::size_t most;
    Counts limited;
  };

  for (const auto& item : std::vector<Case>{
           {{1, 36, 3}, 0, {1, 36, 3}},
           {{1, 36, 3}, 4, {1, 2, 1}},
           {{1, 36, 3}, 39, {1, 35, 3}},
           {{1, 0, 8}, 3, {1, 0, 2}},
           {{1, 1, 1}, 2, {1, 1, 1}},
       }) {
    CAPTURE(item.most);
    CHECK(local::limited_counts(item.counts, item.most) == item.limited);
  }
}

TEST_CASE("a replica's container has its host name, its pool's program and the host's limits") {
  job::Spec spec{.pools = {pool_with("first"), {}, pool_with("second")},
                 .output = job::Directory{.uri = "gs://bucket/a/b/"}};
  spec.pools[2].container->command = {"python3", "ps.py"};
  spec.pools[2].container->env = {{.name = "WHO", .value = "$(RANK)"}};
  const local::HostResources host{.buckets = {{"data", "/home/data"}},
                                  .output = "/home/output",
                                  .credentials = "/home/adc.json",
                                  .memory = 1000,
                                  .processors = 0.5,
                                  .shared_memory = 500};
  const auto cluster = local::plan_cluster(job::replica_counts(spec), "7");
  REQUIRE(cluster.replicas.size() == 2);
  const auto container = local::container_of(spec, cluster, cluster.replicas[1], host);
  CHECK(container.image == "second");
  CHECK(container.command == std::vector<std::string>{"python3", "ps.py"});
  CHECK(container.host_name == cluster.replicas[1].host);
  CHECK(container.network_mode == cluster.network);
  CHECK(container.environment.at("WHO") == "1");
  CHECK(container.environment.at("GOOGLE_APPLICATION_CREDENTIALS") == "/tmp/keys/cred_key.json");
  CHECK(container.environment.at("AIP_MODEL_DIR") == "/gcs/bucket/a/b/model/");
  CHECK(container.memory == 1000);
  CHECK(container.shared_memory == 500);
  CHECK_FALSE(container.host_ipc);
  CHECK(container.labels.at(local::job_label) == "local/7");
  std::vector<std::string> mounts;
  for (const auto& mount : container.mounts) {
    mounts.push_back(mount.host_path + ":" + mount.container_path + (mount.read_only ? ":ro" : ""));
  }
  CHECK(mounts == std::vector<std::string>{"/home/data:/gcs/data", "/home/output:/gcs/bucket/a/b",
                                           "/home/adc.json:/tmp/keys/cred_key.json:ro"});
}

TEST_CASE("packages are installed from the directory that replaces their bucket") {
  job::Spec spec{.pools = {{.package = job::PythonPackage{.executor_image = "prebuilt",
                                                          .uris = {"gs://b/of all.tar.gz"},
                                                          .module = "trainer.task",
                                                          .args = {"--x"}}}}};
  const job::Job job{.spec = spec};
  const auto refused = local::check_for_host(job, {});
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].hints == std::vector<std::string>{"bind its bucket to a directory: "
                                                     "--gcs=b=DIRECTORY"});
  const local::HostResources host{.buckets = {{"b", "/home/b"}}};
  CHECK(local::check_for_host(job, host).empty());
  const auto cluster = local::plan_cluster({1}, "7");
  const auto container = local::container_of(spec, cluster, cluster.replicas[0], host);
  CHECK(container.image == "prebuilt");
  CHECK(container.command[2].find(
            R"('/gcs/b/of all.tar.gz' && exec python3 -m trainer.task "$@")") != std::string::npos);
  CHECK(container.arguments == std::vector<std::string>{"--x"});
}

TEST_CASE("GPUs are spread over replicas while there are enough") {
  job::Spec spec{.pools = {pool_with("x"), pool_with("x")}};
  for (auto& pool : spec.pools) {
    pool.machine->accelerator = "NVIDIA_TESLA_T4";
    pool.machine->accelerators = 2;
  }
  const auto cluster = local::plan_cluster({1, 1}, "7");
  const auto ids = [&](const std::vector<std::string>& gpus) {
    return local::container_of(spec, cluster, cluster.replicas[1], {.gpus = gpus}).gpu_ids;
  };
  CHECK(ids({"0", "1", "2", "3"}) == std::vector<std::string>{"2", "3"});
  CHECK(ids({"0", "1"}).empty());
  CHECK(local::container_of(spec, cluster, cluster.replicas[1], {.gpus = {"0"}}).gpus);
  CHECK_FALSE(local::container_of(spec, cluster, cluster.replicas[1], {}).gpus);
}

TEST_CASE("settings without effect on this machine are reported once each") {
  job::Job job{.spec = {.pools = {pool_with("x"), pool_with("x")},
                        .service_account = "a@b",
                        .network = "projects/1/global/networks/n",
                        .persistent_resource = "r"}};
  job.spec.pools[0].machine->tpu_topology = "2x2";
  job.spec.pools[1].machine->tpu_topology = "2x2";
  std::vector<std::string> told;
  for (const auto& problem : local::check_for_host(job, {})) {
    CHECK(problem.severity == Problem::Severity::warning);
    told.push_back(problem.message);
  }
  CHECK(told ==
        std::vector<std::string>{"a TPU has no effect on this machine",
                                 "the job's network has no effect on this machine",
                                 "a persistent resource has no effect on this machine",
                                 "the job's service account has no effect on this machine"});
}

}  // namespace autopack::local_environment_test
