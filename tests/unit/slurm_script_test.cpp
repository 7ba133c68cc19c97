#include "base/file.hpp"
#include "base/json.hpp"
#include "base/process.hpp"
#include "base/scratch_directory.hpp"
#include "base/text.hpp"
#include "job/replica_environment.hpp"
#include "slurm/script.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace autopack::slurm_script_test {

namespace {

using nlohmann::json;
using slurm::QueueOptions;

constexpr auto* submission = "0123456789abcdef0123456789abcdef";

job::Pool pool_of(std::int64_t replicas, std::vector<job::Variable> env = {}) {
  return {.replicas = replicas,
          .container = job::Container{.image = "registry.example.com/team/app@sha256:ab",
                                      .args = {"--epochs=1"},
                                      .env = std::move(env)}};
}

job::Job job_of(std::vector<job::Pool> pools) {
  job::Job job{.display_name = "taxi fares"};
  job.spec.pools = std::move(pools);
  return job;
}

slurm::Script script_of(const job::Job& job,
                        const QueueOptions& queue = {},
                        slurm::ContainerKind kind = slurm::ContainerKind::native,
                        const std::vector<std::string>& words = {"python3", "train.py"}) {
  slurm::ScriptRequest request{
      .job = &job, .queue = queue, .container = kind, .submission = submission};
  for (const auto& pool : job.spec.pools) {
    request.programs.push_back({.image = pool.container.value().image.value(),
                                .words = words,
                                .environment = {"PATH=/opt/bin:/bin", "IMAGE_SAYS=it's so"},
                                .directory = "/usr/app",
                                .bundle = "/shared/images/key"});
  }
  return slurm::write_script(request);
}

/// Runs the job's script with programs in place of Slurm's. Its srun writes the variables that the
/// program would have, each with a NUL at its end, and the words.
class Nodes {
public:
  explicit Nodes(const std::vector<std::string>& groups, const std::string& srun_more = "") {
    program("scontrol",
            R"(case "$*" in "show hostnames "*) printf '%s\n' $3 | tr ',' '\n' ;; esac)");
    program("srun", R"(
names= host= words=
for word; do
  case $word in
    --export=*) names=${word#--export=} ;;
    --nodelist=*) host=${word#--nodelist=} ;;
    --*) ;;
    *) words="$words <$word>" ;;
  esac
done
printf '%s' "$words" > "$RESULTS/$host.words"
/usr/bin/env -0 > "$RESULTS/$host.all"
printf '%s' "$names" > "$RESULTS/$host.names"
)" + srun_more);
    std::size_t group = 0;
    for (const auto& hosts : groups) {
      variables_[groups.size() == 1 ? "SLURM_JOB_NODELIST"
                                    : fmt::format("SLURM_JOB_NODELIST_HET_GROUP_{}", group++)] =
          hosts;
    }
    variables_["SLURM_JOB_ID"] = "77";
    variables_["PATH"] = (scratch_.path() / "bin").string() + ":/usr/bin:/bin";
    variables_["RESULTS"] = scratch_.path().string();
  }

  /// Returns the exit status.
  int run(const slurm::Script& script) {
    write_file(scratch_.path() / "environment", script.environment);
    write_file(scratch_.path() / "script", script.batch);
    const auto result = run_process(
        {"/bin/sh", "-c", "cd \"$RESULTS\" && exec /bin/sh ./script"}, "",
        {.environment = variables_, .inherits = false, .timeout = std::chrono::seconds{60}});
    errors = result.value().errors;
    return result->status;
  }

  std::map<std::string, std::string> variables(const std::string& host) const {
    std::map<std::string, std::string> all;
    const auto names = split(read_file(scratch_.path() / (host + ".names")), ',');
    for (const auto& one : split(read_file(scratch_.path() / (host + ".all")), '\0')) {
      const auto mark = one.find('=');
      if (std::ranges::find(names, one.substr(0, mark)) != names.end()) {
        all[one.substr(0, mark)] = one.substr(mark + 1);
      }
    }
    return all;
  }

  std::string file(const std::string& name) const {
    return read_file_if_exists(scratch_.path() / name).value_or("");
  }

  std::string directory() const { return scratch_.path().string(); }

  std::string errors{};

private:
  void program(const std::string& name, const std::string& text) {
    const auto path = scratch_.path() / "bin" / name;
    write_file(path, "#!/bin/sh\n" + text + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  ScratchDirectory scratch_{"slurm-script-test"};
  std::map<std::string, std::string> variables_{};
};

std::vector<std::string> messages(const Problems& problems) {
  std::vector<std::string> all;
  for (const auto& one : problems) {
    all.push_back(one.message);
  }
  return all;
}

}  // namespace

TEST_CASE("each replica on Slurm gets the variables that Vertex AI gives it") {
  const auto job = job_of({pool_of(1), pool_of(2)});
  Nodes nodes{{"alpha", "beta,gamma"}};
  REQUIRE(nodes.run(script_of(job)) == 0);
  const job::Cluster cluster{.job = "slurm/77",
                             .network = "slurm",
                             .replicas = {{.pool = 0, .index = 0, .rank = 0, .host = "alpha"},
                                          {.pool = 1, .index = 0, .rank = 1, .host = "beta"},
                                          {.pool = 1, .index = 1, .rank = 2, .host = "gamma"}}};
  for (const auto& replica : cluster.replicas) {
    auto expected = job::service_variables(job.spec.pools[replica.pool], cluster, replica, {});
    expected["AUTOPACK_JOB_DIRECTORY"] = nodes.directory();
    // The primary's end ends the job, perhaps before the others have started.
    if (!nodes.file(replica.host + ".words").empty()) {
      CHECK(nodes.variables(replica.host) == expected);
      CHECK(nodes.file(replica.host + ".words") == " <python3> <train.py>");
    }
  }
  CHECK(!nodes.file("alpha.words").empty());
  CHECK(nodes.file("end").starts_with("COMPLETED 0 - "));
}

TEST_CASE("values of a user's variables arrive unchanged on Slurm") {
  const std::vector<std::string> strange{
      "it's",    "two\nlines\n", "$(touch /tmp/x)", "`id`",  "a\\b\"c",    "",           "!!",
      "* ? [a]", "\xff\xfe",     "--export=ALL",    "a,b=c", "$HOME ${A}", R"('"'"'\'')"};
  std::vector<job::Variable> env;
  for (std::size_t i = 0; i < strange.size(); ++i) {
    env.push_back(
        {.name = fmt::format("STRANGE_{}", i), .value = replace_all(strange[i], "$(", "$$(")});
  }
  env.push_back({.name = "PATH", .value = "/nowhere"});
  env.push_back({.name = "IFS", .value = "x"});
  env.push_back({.name = "WHERE", .value = "$(RANK) of $(WORLD_SIZE) at $(MASTER_ADDR)"});
  const auto job = job_of({pool_of(1, env)});
  REQUIRE(slurm::check_for_slurm(job, {}).empty());
  const std::vector<std::string> words{"python3", "-c", "print('a\nb')", "$(id)", "", "a b"};
  Nodes nodes{{"alpha"}};
  REQUIRE(nodes.run(script_of(job, {}, slurm::ContainerKind::native, words)) == 0);
  auto variables = nodes.variables("alpha");
  for (std::size_t i = 0; i < strange.size(); ++i) {
    CHECK(variables[fmt::format("STRANGE_{}", i)] == strange[i]);
  }
  CHECK(variables["PATH"] == "/nowhere");
  CHECK(variables["WHERE"] == "0 of 1 at alpha");
  CHECK(nodes.file("alpha.words") == " <python3> <-c> <print('a\nb')> <$(id)> <> <a b>");
}

TEST_CASE("a job on Slurm fails with the first replica that does") {
  const auto job = job_of({pool_of(1), pool_of(2)});
  Nodes nodes{{"alpha", "beta,gamma"},
              "case $host in gamma) exit 7 ;; alpha) exec sleep 20 ;; beta) exit 0 ;; esac"};
  CHECK(nodes.run(script_of(job)) == 7);
  CHECK(nodes.file("end").starts_with("FAILED 7 workerpool1-1 "));
}

TEST_CASE("the variables of a job are not in its script") {
  const auto job = job_of({pool_of(1, {{.name = "TOKEN", .value = "hidden-value"}})});
  const auto script = script_of(job);
  CHECK(script.batch.find("hidden-value") == std::string::npos);
  CHECK(script.environment.find("hidden-value") != std::string::npos);
}

TEST_CASE("the options of sbatch") {
  auto job = job_of({pool_of(1), {}, pool_of(3)});
  job.spec.pools[0].machine = job::Machine{.type = "n1-standard-8"};
  job.spec.pools[2].machine = job::Machine{.accelerator = "NVIDIA_TESLA_T4", .accelerators = 2};
  job.spec.scheduling = job::Scheduling{.timeout = "93784.5s", .disable_retries = true};
  slurm::ScriptRequest request{
      .job = &job,
      .queue = {.partition = "gpu", .account = "team", .qos = "high", .signal = "B:USR1@60"},
      .submission = submission};
  request.programs = {{.image = "a"}, {}, {.image = "b"}};
  const auto batch = slurm::write_script(request).batch;
  CHECK(batch.substr(0, batch.find("\n\n")) == R"(#!/bin/sh
#SBATCH --job-name=taxi-fares
#SBATCH --comment=autopack-submission=0123456789abcdef0123456789abcdef
#SBATCH --partition=gpu
#SBATCH --account=team
#SBATCH --qos=high
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --mem=30000M
#SBATCH --time=1-02:03:05
#SBATCH --signal=B:USR1@60
#SBATCH --no-requeue
#SBATCH hetjob
#SBATCH --job-name=taxi-fares
#SBATCH --partition=gpu
#SBATCH --account=team
#SBATCH --qos=high
#SBATCH --nodes=3
#SBATCH --ntasks=3
#SBATCH --ntasks-per-node=1
#SBATCH --gres=gpu:2
#SBATCH --time=1-02:03:05
#SBATCH --signal=B:USR1@60
#SBATCH --no-requeue)");
  CHECK(batch.find("trap 'scancel --signal=USR1 \"$autopack_job\"' USR1\n") != std::string::npos);
  CHECK(batch.find("--het-group=1 ") != std::string::npos);
  CHECK(batch.find("start_pool 2 \"$autopack_nodes_2\" 1\n") != std::string::npos);
}

TEST_CASE("pyxis gets the image by its digest, and apptainer all variables by its prefix") {
  const auto job = job_of({pool_of(2, {{.name = "RATE", .value = "0.1"}})});
  const auto pyxis = script_of(job, {}, slurm::ContainerKind::pyxis);
  CHECK(pyxis.batch.find("--container-image='registry.example.com#team/app@sha256:ab'") !=
        std::string::npos);
  CHECK(pyxis.batch.find("--container-workdir=/usr/app") != std::string::npos);
  CHECK(pyxis.batch.find("--container-env=\"$autopack_names\"") != std::string::npos);
  const auto apptainer = script_of(job, {}, slurm::ContainerKind::apptainer);
  CHECK(apptainer.batch.find("\"$autopack_apptainer\" exec --contain") != std::string::npos);
  CHECK(apptainer.batch.find("/shared/images/key/rootfs") != std::string::npos);
  CHECK(apptainer.environment.find("export APPTAINERENV_RATE=0.1\n") != std::string::npos);
  CHECK(apptainer.environment.find("export APPTAINERENV_PATH=/opt/bin:/bin\n") !=
        std::string::npos);
}

TEST_CASE("torchrun on Slurm finds the other nodes") {
  const auto job = job_of({pool_of(2)});
  Nodes nodes{{"alpha,beta"}, "case $host in alpha) sleep 1 ;; esac"};
  REQUIRE(nodes.run(script_of(job, {}, slurm::ContainerKind::native, {"torchrun", "train.py"})) ==
          0);
  auto variables = nodes.variables("beta");
  CHECK(variables["PET_NNODES"] == "2");
  CHECK(variables["PET_NODE_RANK"] == "1");
  CHECK(variables["PET_MASTER_ADDR"] == "alpha");
  CHECK(variables["PET_MASTER_PORT"] == variables["MASTER_PORT"]);
}

TEST_CASE("what has no place in a job of Slurm is refused by name") {
  auto job = job_of({pool_of(1, {{.name = "a.b", .value = "1"},
                                 {.name = "SLURM_JOB_ID", .value = "1"},
                                 {.name = "UID", .value = "1"}})});
  job.spec.service_account = "me@example.com";
  job.spec.tensorboard = "projects/p/tensorboards/1";
  job.spec.scheduling = job::Scheduling{.timeout = "60s", .strategy = "SPOT"};
  job.spec.pools[0].machine = job::Machine{.type = "tpu-v9", .tpu_topology = "2x2"};
  job.spec.pools[0].nfs_mounts = {{.server = "a"}};
  const auto found = messages(
      slurm::check_for_slurm(job, {.partition = "gpu; rm", .time = "10", .signal = "USR1 @2"}));
  for (const auto* expected :
       {"`serviceAccount` has no place in a job of Slurm",
        "`tensorboard` has no place in a job of Slurm",
        "the strategy `SPOT` has no place in a job of Slurm",
        "a TPU of pool 0 has no place in a job of Slurm",
        "`nfsMounts` of pool 0 has no place in a job of Slurm",
        "`a.b` is not a name that a shell accepts for a variable",
        "`SLURM_JOB_ID` belongs to Slurm or to the shell of the job's script",
        "`UID` belongs to Slurm or to the shell of the job's script",
        "`--time` and `--timeout` both limit the job's time",
        "`--partition=gpu; rm` has a character that Slurm does not accept there",
        "`--signal=USR1 @2` has a character that Slurm does not accept there"}) {
    CAPTURE(expected);
    CHECK(std::ranges::find(found, expected) != found.end());
  }
}

TEST_CASE("a bundle's configuration maps the user to root, and lets the program write") {
  const auto image = image::Configuration::parse(
      R"({"architecture":"amd64","os":"linux","config":{"Env":["A=1"],"WorkingDir":"/usr/app/"},
          "rootfs":{"type":"layers","diff_ids":[]}})",
      "the configuration");
  const auto read = [&](unsigned user) {
    return parse_json(slurm::bundle_configuration(
        image, {{.source = "/scratch", .target = "/data", .is_read_only = true}},
        {.id = user, .group = 200}));
  };
  const auto of_user = read(1000);
  CHECK(of_user["root"] == parse_json(R"({"path":"rootfs","readonly":true})"));
  CHECK(of_user["process"]["cwd"] == "/usr/app");
  CHECK(of_user["linux"]["uidMappings"][0]["hostID"] == 1000);
  CHECK(of_user["linux"]["gidMappings"][0]["hostID"] == 200);
  std::map<std::string, json> mounts;
  for (const auto& one : of_user["mounts"]) {
    mounts[one["destination"].get<std::string>()] = one;
  }
  CHECK(mounts["/usr/app"]["type"] == "tmpfs");
  CHECK(mounts["/data"]["options"] == parse_json(R"(["rbind","ro"])"));
  CHECK_FALSE(read(0)["linux"].contains("uidMappings"));
}

}  // namespace autopack::slurm_script_test
