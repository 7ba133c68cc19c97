#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "job/make_job.hpp"
#include "job/replica_environment.hpp"
#include "job/yaml_json.hpp"
#include "kubernetes/objects.hpp"
#include "kubernetes/pod.hpp"
#include "kubernetes/pod_template.hpp"
#include "support/job_arguments.hpp"
#include "test_data.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace autopack::kubernetes_objects_test {

using kubernetes::ObjectKind;
using kubernetes::ObjectOptions;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

constexpr auto* id = "7f3a9c00000000000000000000000000";
constexpr auto* image =
    "r.example/app@sha256:0000000000000000000000000000000000000000000000000000000000000000";

job::Pool pool_of(std::int64_t replicas) {
  return {.replicas = replicas,
          .container = job::Container{
              .image = image, .command = {"python", "-m", "trainer.task"}, .args = {"--epochs=3"}}};
}

job::Job job_of(const std::vector<std::int64_t>& replicas) {
  job::Job job{.display_name = "Taxi fares"};
  for (const auto count : replicas) {
    job.spec.pools.push_back(count == 0 ? job::Pool{} : pool_of(count));
  }
  return job;
}

job::Job gpu_job() {
  auto job = job_of({1, 3});
  for (auto& pool : job.spec.pools) {
    pool.machine =
        job::Machine{.type = "n1-standard-8", .accelerator = "NVIDIA_TESLA_T4", .accelerators = 2};
    pool.disk = job::Disk{.type = "pd-ssd", .size = 200};
    pool.nfs_mounts = {{.server = "10.0.0.2", .path = "/export", .mount_point = "data"}};
    pool.container->args.emplace_back("/gcs/bucket/train");
  }
  job.spec.scheduling = job::Scheduling{.timeout = "7200.5s", .strategy = "SPOT"};
  job.spec.service_account = "trainer";
  job.spec.output = job::Directory{.uri = "gs://bucket/out"};
  job.labels = std::map<std::string, std::string>{{"team", "a"}};
  return job;
}

std::shared_ptr<const json> fragment(const std::string& yaml) {
  return kubernetes::read_pod_template(job::json_of_yaml(yaml, "pod"), "`pod`");
}

/// Compares `object` with the golden file, or writes that.
void check_golden(const std::string& name, const json& object) {
  const auto file = fs::path{TEST_DATA} / ".." / ".." / "golden" / "kubernetes" / (name + ".yaml");
  CAPTURE(name);
  const auto text = job::yaml_of_json(object);
  const char* const accept = std::getenv("AUTOPACK_ACCEPT");
  if (accept != nullptr && *accept != '\0') {
    write_file(file, text);
  }
  CHECK(text == read_file(file));
  CHECK(job::json_of_yaml(text, name) == object);
}

/// Expands `$(NAME)` as the kubelet does.
std::string expanded(const std::string& text, const std::map<std::string, std::string>& known) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view rest = std::string_view{text}.substr(at);
    const auto end = text.find(')', at);
    if (rest.starts_with("$$")) {
      result += '$';
      ++at;
    } else if (rest.starts_with("$(") && end != std::string::npos) {
      const auto name = text.substr(at + 2, end - at - 2);
      const auto found = known.find(name);
      result += found == known.end() ? text.substr(at, end - at + 1) : found->second;
      at = end;
    } else {
      result += text[at];
    }
  }
  return result;
}

/// Returns the environment of a replica as its container gets it.
std::map<std::string, std::string> environment_in(const json& pod, const job::Replica& replica) {
  std::map<std::string, std::string> known;
  for (const auto& variable : pod["spec"]["containers"][0]["env"]) {
    const auto name = text_at(variable, "name");
    CHECK(!known.contains(name));
    if (variable.contains("valueFrom")) {
      const auto path = text_at(variable["valueFrom"]["fieldRef"], "fieldPath");
      const bool is_rank =
          path.find("global-index") != std::string::npos || name.find("RANK") != std::string::npos;
      known[name] = std::to_string(is_rank ? replica.rank : replica.index);
    } else {
      known[name] = expanded(text_at(variable, "value"), known);
    }
  }
  return known;
}

std::vector<std::string> messages(const Problems& problems) {
  std::vector<std::string> all;
  for (const auto& problem : problems) {
    all.push_back(std::string{to_string(problem.severity)} + " " + problem.message);
  }
  return all;
}

bool holds(const std::vector<std::string>& texts, const std::string& part) {
  return join(texts, "\n").find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("jobs become the objects of the golden files") {
  check_golden("one-replica", kubernetes::make_object(job_of({1}), {}, id));
  check_golden("two-pools", kubernetes::make_object(job_of({1, 3}), {}, id));
  check_golden(
      "gke-spot-gpus",
      kubernetes::make_object(
          gpu_job(),
          {.name_space = "ml", .queue = "team-a", .priority_class = "high", .is_gke = true}, id));
  auto restarting = job_of({2});
  restarting.spec.scheduling = job::Scheduling{.restart_on_worker_restart = true};
  check_golden("restarting-together", kubernetes::make_object(restarting, {}, id));
  auto once = job_of({1});
  once.spec.scheduling = job::Scheduling{.disable_retries = true};
  once.spec.pools[0].machine = job::Machine{.accelerator = "NVIDIA_H100_80GB", .accelerators = 8};
  check_golden("no-retries-h100", kubernetes::make_object(once, {.priority_class = "high"}, id));
  check_golden(
      "train-job",
      kubernetes::make_object(job_of({2}),
                              {.runtime = "torch-distributed", .kind = ObjectKind::train_job}, id));
  check_golden(
      "pod-template",
      kubernetes::make_object(
          job_of({1}),
          {.pod_template = fragment("tolerations: [{key: team, operator: Exists}]\n"
                                    "imagePullSecrets: [{name: pull}]\n"
                                    "nodeSelector: {pool: gpu}\n"
                                    "volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: "
                                    "8Gi}}, {name: data, persistentVolumeClaim: {claimName: d}}]\n"
                                    "containers:\n"
                                    "- name: trainer\n"
                                    "  resources: {limits: {memory: 16Gi}}\n"
                                    "  volumeMounts: [{name: data, mountPath: /data}]\n"
                                    "- {name: side, image: side:1}\n")},
          id));
}

TEST_CASE("names are valid for the longest name of a pod") {
  const auto longest = std::string(100, 'a');
  const auto name_of = [&](const std::string& display_name,
                           const std::vector<std::int64_t>& replicas, ObjectKind kind) {
    auto job = job_of(replicas);
    job.display_name = display_name;
    return kubernetes::object_name(job, id, kind);
  };
  CHECK(name_of("Taxi fares!", {1}, ObjectKind::job) == "taxi-fares-7f3a9c");
  CHECK(name_of("7 taxis", {1}, ObjectKind::job) == "job-7-taxis-7f3a9c");
  CHECK(name_of("--", {1}, ObjectKind::job) == "job-7f3a9c");
  CHECK(name_of("\xc3\xbc\xc3\xb6", {1}, ObjectKind::job) == "job-7f3a9c");
  // The longest names that a real API server accepted without a coordinator.
  CHECK(name_of(longest, {1, 3}, ObjectKind::job_set).size() == 41);
  CHECK(name_of(longest, {1, 12}, ObjectKind::job_set).size() == 40);
  CHECK(name_of(longest, {1, 120}, ObjectKind::job_set).size() == 39);
  for (const auto replicas : {1, 10, 11, 1000}) {
    const auto job = job_of({1, replicas});
    const auto cluster = kubernetes::cluster_of(
        job, name_of(longest, {1, replicas}, ObjectKind::job_set), ObjectKind::job_set);
    const auto& host = cluster.replicas.back().host;
    CHECK(host.substr(0, host.find('.')).size() + 6 <= 63);
  }
}

TEST_CASE("every replica gets the environment of Vertex AI") {
  for (const auto kind : {ObjectKind::job, ObjectKind::job_set, ObjectKind::train_job}) {
    auto job = kind == ObjectKind::job         ? job_of({1})
               : kind == ObjectKind::train_job ? job_of({4})
                                               : job_of({1, 3, 0, 2});
    job.spec.output = job::Directory{.uri = "gs://bucket/out"};
    for (auto& pool : job.spec.pools) {
      if (!pool.container) {
        continue;
      }
      pool.container->args = {"$(RANK)", "$$", "$HOME", "a$"};
      pool.container->env = {
          {.name = "PLAIN", .value = "a $HOME ${X} $"},
          {.name = "HALF", .value = "x$"},
          {.name = "JOINED", .value = "$(HALF)(PLAIN) $(HALF)$(PLAIN)"},
          {.name = "REFERS", .value = "$(PLAIN)-$(RANK)-$(WORLD_SIZE)-$(MASTER_ADDR)"},
          {.name = "LITERAL", .value = "$$(RANK) $$$$(RANK) $$$(RANK)"},
          {.name = "UNKNOWN", .value = "$(NOPE) $(LATER) $(POOL_INDEX) $(unclosed"},
          {.name = "LATER", .value = "1"},
          {.name = "MASTER_PORT", .value = "$(MASTER_PORT)0"},
          {.name = "RANK", .value = "<$(RANK)>"},
          {.name = "AGAIN", .value = "$(RANK) $(MASTER_PORT) $(CLUSTER_SPEC)"},
          {.name = "LATER", .value = "$(LATER)2"},
          {.name = "TF_CONFIG", .value = "mine"},
      };
    }
    const auto name = kubernetes::object_name(job, id, kind);
    const auto cluster = kubernetes::cluster_of(job, name, kind);
    const ObjectOptions options{.runtime = "r", .kind = kind};
    for (const auto& replica : cluster.replicas) {
      CAPTURE(replica.name);
      const auto& pool = job.spec.pools[replica.pool];
      const auto pod = kubernetes::pod_template_of(job, replica.pool, cluster, kind, options);
      const auto found = environment_in(pod, replica);
      const auto expected = job::with_own(
          job::service_variables(pool, cluster, replica, {.output = "gs://bucket/out"}),
          pool.container->env);
      for (const auto& variable : expected) {
        CAPTURE(variable.first);
        REQUIRE(found.contains(variable.first));
        CHECK(found.at(variable.first) == variable.second);
      }
      const auto& args = pod["spec"]["containers"][0]["args"];
      for (std::size_t i = 0; i < args.size(); ++i) {
        CHECK(expanded(args[i].get<std::string>(), found) == pool.container->args[i]);
      }
    }
  }
}

TEST_CASE("hosts are the names that JobSet gives its pods") {
  const auto job = job_of({1, 2});
  const auto cluster = kubernetes::cluster_of(job, "taxi-7f3a9c", ObjectKind::job_set);
  CHECK(cluster.replicas[0].host == "taxi-7f3a9c-workerpool0-0-0.taxi-7f3a9c");
  CHECK(cluster.replicas[2].host == "taxi-7f3a9c-workerpool1-1-0.taxi-7f3a9c");
}

TEST_CASE("what has no place in a cluster is refused by name, all at once") {
  auto job = job_of({1});
  job.spec.network = "n";
  job.spec.tensorboard = "t";
  job.spec.persistent_resource = "p";
  job.spec.experiment = "e";
  job.spec.enable_web_access = true;
  job.spec.psc_interface = job::PscInterface{};
  job.spec.service_account = "me@p.iam.gserviceaccount.com";
  job.spec.scheduling = job::Scheduling{.strategy = "SPOT", .max_wait = "1s"};
  job.encryption = job::Encryption{};
  job.labels = std::map<std::string, std::string>{{"team", "a-"}};
  job.spec.pools[0].package = job::PythonPackage{};
  job.spec.pools[0].lustre_mounts = {{}};
  job.spec.others = job::Bag{{{"newField", 1}}};
  const auto found = messages(kubernetes::check_job(job, {}));
  for (const auto* part : {"VPC network", "TensorBoard", "persistent resource", "experiment",
                           "web access", "Private Service Connect", "is an account of Google Cloud",
                           "spot machines", "maximum wait", "encryption key", "`team=a-`",
                           "Python packages in Cloud Storage", "Lustre", "`jobSpec.newField`"}) {
    CAPTURE(part);
    CHECK(holds(found, part));
  }
  job.kind = job::JobKind::tuning_job;
  CHECK(holds(messages(kubernetes::check_job(job, {})), "a study needs"));
  CHECK(kubernetes::check_job(gpu_job(), {.is_gke = true}).empty());
}

TEST_CASE("the kind of object must fit the job") {
  const auto found = [](const std::vector<std::int64_t>& replicas, const ObjectOptions& options) {
    return join(messages(kubernetes::check_job(job_of(replicas), options)), "; ");
  };
  CHECK(found({1}, {.kind = ObjectKind::job}).empty());
  CHECK(found({1}, {.kind = ObjectKind::job_set}).empty());
  CHECK(found({2}, {.kind = ObjectKind::job}) == "error a Job has one replica, and this job has 2");
  CHECK(found({1, 1}, {.runtime = "r", .kind = ObjectKind::train_job}) ==
        "error a TrainJob has one worker pool, and this job has 2");
  CHECK(found({1}, {.kind = ObjectKind::train_job}) ==
        "error a TrainJob needs the name of its runtime");
  CHECK(found({1}, {.runtime = "r"}) == "error only a TrainJob has a runtime");
}

TEST_CASE("the user's pod template is merged as Kubernetes merges") {
  auto base =
      json::parse(R"({"spec":{"containers":[{"name":"trainer","env":[{"name":"A","value":"1"}],
    "args":["x"]}],"volumes":[{"name":"shm","emptyDir":{}}],"nodeSelector":{"a":"b"}}})");
  kubernetes::merge_strategically(
      base,
      json::parse(R"({"spec":{"containers":[{"name":"side"},{"name":"trainer","args":["y","z"],
    "env":[{"name":"B","value":"2"},{"name":"A","value":"3"}]}],
    "volumes":[{"name":"shm","hostPath":{"path":"/x"}}],"nodeSelector":{"a":null,"c":"d"}}})"));
  CHECK(base ==
        json::parse(R"({"spec":{"containers":[{"name":"trainer","env":[{"name":"A","value":"3"},
    {"name":"B","value":"2"}],"args":["y","z"]},{"name":"side"}],
    "volumes":[{"name":"shm","hostPath":{"path":"/x"}}],"nodeSelector":{"c":"d"}}})"));
}

TEST_CASE("a fragment that is not a pod template is refused") {
  const auto refusal = [](const std::string& yaml) {
    try {
      fragment(yaml);
      return std::string{};
    } catch (const Error& error) {
      return error.message();
    }
  };
  CHECK(refusal("spec: {tolerations: []}\nmetadata: {labels: {a: b}}").empty());
  CHECK(refusal("- a").find("not a mapping") != std::string::npos);
  CHECK(refusal("restartPolicy: Always").find("sets `restartPolicy` itself") != std::string::npos);
  CHECK(refusal("metadata: {name: x}").find("`metadata.name`") != std::string::npos);
  CHECK(refusal("spec: {}\nstatus: {}").find("`status` is not a part") != std::string::npos);
  CHECK(refusal("volumes: [{name: a, $patch: delete}]").find("begins with `$`") !=
        std::string::npos);
}

TEST_CASE("field paths of the API server become words of autopack") {
  const auto object = kubernetes::make_object(gpu_job(), {.is_gke = true}, id);
  const auto words = [&](const std::string& field) {
    return kubernetes::words_of_field(object, field);
  };
  const std::string pod = "spec.replicatedJobs[1].template.spec.template.spec.";
  CHECK(words(pod + "containers[0].image") ==
        "the image of workerpool1 (`" + pod + "containers[0].image`)");
  CHECK(words(pod + "containers[0].env[0].value").starts_with("the variable `POOL_INDEX`"));
  CHECK(words(pod + "containers[0].resources.limits[nvidia.com/gpu]")
            .starts_with("the accelerator count of workerpool1"));
  CHECK(words("metadata.name").starts_with("the name (`--display-name`)"));
  CHECK(words("spec.foo[99].bar") == "`spec.foo[99].bar`");
  CHECK(words("[[]..[") == "`[[]..[`");
}

TEST_CASE("on a cluster a service account is a name of its namespace") {
  for (const bool on_cluster : {true, false}) {
    CAPTURE(on_cluster);
    const auto arguments = testing::read_job_arguments(
        json{"--region=us-central1", "--display-name=x", "--service-account=trainer",
             "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=r.example/a/b:1"});
    std::string refusal;
    try {
      job::make_job(arguments.flags, nullptr, arguments.location, {.on_cluster = on_cluster},
                    arguments.problems);
    } catch (const Error& error) {
      refusal = error.message() + join(messages(error.problems()), "\n");
    }
    CAPTURE(refusal);
    CHECK((refusal.find("`trainer` is not a valid name") == std::string::npos) == on_cluster);
  }
}

}  // namespace autopack::kubernetes_objects_test
