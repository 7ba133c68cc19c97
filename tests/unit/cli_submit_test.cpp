#include "base/json.hpp"
#include "support/cli_run.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace autopack::testing::cli_submit_test {

namespace {

using Strings = std::vector<std::string>;

/// A project with one program, below a directory with a name of its own.
struct Front : CliRun {
  Front() {
    write("taxi/train.py", "if __name__ == '__main__':\n    print(1)\n");
    set("CLOUDSDK_CORE_PROJECT", "p");
    set("CLOUDSDK_AI_REGION", "us-central1");
  }

  int submit(const Strings& flags, const std::string& command = "submit") {
    Strings all{"-C", "taxi", command, "--dry-run", "--skip-checks"};
    all.insert(all.end(), flags.begin(), flags.end());
    const auto here = std::filesystem::current_path();
    const int status = run(all);
    std::filesystem::current_path(here);
    return status;
  }

  nlohmann::json body(const Strings& flags, const std::string& command = "submit") {
    const int status = submit(flags, command);
    INFO(errors);
    REQUIRE(status == 0);
    return parse_json(out)["request"]["body"];
  }

  nlohmann::json pool(const Strings& flags) { return body(flags)["jobSpec"]["workerPoolSpecs"][0]; }

  bool told(const std::string& text) const { return errors.find(text) != std::string::npos; }
};

}  // namespace

TEST_CASE("missing settings are inferred, and each choice is reported with its flag") {
  Front cli;
  const auto body = cli.body({});
  CHECK(body["displayName"] == "taxi");
  const auto& pool = body["jobSpec"]["workerPoolSpecs"][0];
  CHECK(pool["machineSpec"] == nlohmann::json{{"machineType", "n1-standard-4"}});
  CHECK(pool["replicaCount"] == "1");
  const std::string image = pool["containerSpec"]["imageUri"];
  CHECK(image.starts_with("us-central1-docker.pkg.dev/p/autopack/taxi:ap-"));
  for (const std::string part :
       {"script `train.py`: by its name (`--script`",
        "executor image `python:3.11`: the project names no version of Python "
        "(`--executor-image-uri`",
        "image name `us-central1-docker.pkg.dev/p/autopack/taxi`: region, project and display name "
        "(`--output-image-uri`",
        "machine `n1-standard-4`: 4 CPUs, 15 GB, no GPU (`--machine-type`",
        "display name `taxi`: the directory's (`--display-name`",
        "region `us-central1`: `CLOUDSDK_AI_REGION` (`--region`",
        "project `p`: `CLOUDSDK_CORE_PROJECT` (`--project`"}) {
    CAPTURE(part);
    CHECK(cli.told("  Inferred  " + part + " names another)\n"));
  }
}

TEST_CASE("given settings are not reported as inferred") {
  Front cli;
  cli.body({"--script=train.py", "--executor-image-uri=python:3.12", "--machine-type=n1-standard-8",
            "--display-name=x", "--output-image-uri=gcr.io/p/x:v1", "--region=us-east1",
            "--project=q"});
  CHECK_FALSE(cli.told("Inferred"));
}

TEST_CASE("gcloud's region for machines replaces that of its ai commands") {
  Front cli;
  cli.set("CLOUDSDK_AI_REGION", "");
  cli.write("home/.config/gcloud/configurations/config_default", "[compute]\nregion = us-east4\n");
  cli.body({});
  CHECK(
      cli.told("region `us-east4`: `compute/region` of gcloud's configuration `default` "
               "(`--region` names another)"));
  CHECK(cli.submit({"--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=a"}) == 2);
  CHECK(cli.told("no region is set"));
  CHECK(cli.submit({"--no-infer", "--container-image-uri=a", "--machine-type=n1-standard-4"}) == 2);
  CHECK(cli.told("no region is set"));
}

TEST_CASE("a GPU is never guessed, but a program that could use one is reported") {
  Front cli;
  cli.write("taxi/requirements.txt", "torch==2.4\n");
  CHECK_FALSE(cli.pool({})["machineSpec"].contains("acceleratorType"));
  CHECK(cli.told("no GPU; `torch` could use one: `--accelerator-type` (`--machine-type`"));
  const auto machine = cli.pool({"--accelerator-type=NVIDIA_TESLA_T4"})["machineSpec"];
  CHECK(machine == nlohmann::json{{"machineType", "n1-standard-8"},
                                  {"acceleratorType", "NVIDIA_TESLA_T4"},
                                  {"acceleratorCount", 1}});
  CHECK(cli.told("machine `n1-standard-8`: the smallest that supports the accelerators"));
}

TEST_CASE("nothing is inferred where that is switched off or the pools are typed") {
  Front cli;
  CHECK(cli.submit({"--no-infer"}) == 2);
  CHECK(cli.told("the job has no worker pool"));
  CHECK(cli.submit({"--no-infer", "--machine-type=n1-standard-4", "--script=train.py"}) == 2);
  CHECK(cli.told("`executor-image-uri` is needed"));
  CHECK(cli.submit({"--worker-pool-spec=machine-type=n1-standard-4,local-package-path=."}) == 2);
  CHECK(cli.told("`script` or `python-module` is needed"));
  cli.set("AUTOPACK_NO_INFER", "1");
  CHECK(cli.submit({}) == 2);
}

TEST_CASE("flags of the only pool make the request that --worker-pool-spec makes") {
  Front cli;
  cli.write("taxi/trainer/__init__.py", "");
  cli.write("taxi/trainer/task.py", "print(1)\n");
  cli.write("taxi/conf/a", "");
  const std::string base = "executor-image-uri=python:3.11,local-package-path=.";

  struct Case {
    Strings flags;
    std::string pool;
  };

  for (const auto& item : std::vector<Case>{
           {{"--machine-type=n1-standard-4", "--container-image-uri=gcr.io/p/i:v1"},
            "machine-type=n1-standard-4,container-image-uri=gcr.io/p/i:v1"},
           {{"--machine-type=n1-standard-8", "--accelerator-type=NVIDIA_TESLA_T4",
             "--accelerator-count=2", "--replica-count=1", "--container-image-uri=gcr.io/p/i:v1"},
            "machine-type=n1-standard-8,accelerator-type=NVIDIA_TESLA_T4,accelerator-count=2,"
            "replica-count=1,container-image-uri=gcr.io/p/i:v1"},
           {{"--machine-type=n1-standard-4", "--executor-image-uri=python:3.11",
             "--script=train.py", "--output-image-uri=gcr.io/p/x:v1"},
            "machine-type=n1-standard-4,script=train.py,output-image-uri=gcr.io/p/x:v1," + base},
           {{"--machine-type=n1-standard-4", "--executor-image-uri=python:3.11",
             "--python-module=trainer.task", "--requirements=a,b", "--extra-dirs=conf"},
            "machine-type=n1-standard-4,python-module=trainer.task,requirements=a;b,"
            "extra-dirs=conf," +
                base},
           {{"--machine-type=n1-standard-4", "--executor-image-uri=gcr.io/p/e:1",
             "--python-module=trainer.task", "--python-package-uris=gs://b/a.tar.gz"},
            "machine-type=n1-standard-4,executor-image-uri=gcr.io/p/e:1,python-module="
            "trainer.task"},
       }) {
    CAPTURE(item.pool);
    Strings typed{"--worker-pool-spec=" + item.pool, "--boot-disk-size=200", "--args=--x,1"};
    if (item.flags.back().starts_with("--python-package-uris")) {
      typed.push_back(item.flags.back());
    }
    auto flags = item.flags;
    flags.insert(flags.end(), {"--boot-disk-size=200", "--", "--x", "1"});
    CHECK(cli.body(flags) == cli.body(typed));
  }
}

TEST_CASE("flags of the only pool and pools that could be others exclude each other") {
  Front cli;
  const std::string ready = "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=a";
  CHECK(cli.submit({"--machine-type=n1-standard-8", ready}) == 2);
  CHECK(
      cli.told("`--machine-type` and `--worker-pool-spec` exclude each other: the flag would be "
               "for that pool"));
  CHECK(cli.submit({"--machine-type=n1-standard-8", ready, ready}) == 2);
  CHECK(cli.told("would be for the first pool"));
  // A variable applies to `run` too.
  cli.set("AUTOPACK_SCRIPT", "train.py");
  CHECK(cli.pool({ready})["containerSpec"]["imageUri"] == "a");
}

TEST_CASE("a flag goes over the only pool of a file") {
  Front cli;
  cli.write("taxi/autopack.yaml",
            "worker-pool-spec:\n- machine-type: n1-standard-4\n  script: train.py\n");
  CHECK(cli.pool({"--machine-type=n1-highmem-8"})["machineSpec"]["machineType"] == "n1-highmem-8");
  CHECK(cli.pool({"--container-image-uri=gcr.io/p/i:v1"})["containerSpec"]["imageUri"] ==
        "gcr.io/p/i:v1");
  CHECK(cli.submit({"--save", "--machine-type=n1-highmem-8"}) == 2);
  CHECK(cli.told("`--save` adds no `machine-type` beside `worker-pool-spec` in line 1"));
  cli.write("taxi/autopack.yaml", "machine-type: n1-standard-8\n");
  CHECK(cli.pool({})["machineSpec"]["machineType"] == "n1-standard-8");
  CHECK_FALSE(cli.told("Inferred  machine"));
  CHECK(cli.pool({"--worker-pool-spec=container-image-uri=a"})["machineSpec"]["machineType"] ==
        "n1-standard-8");
  cli.write("taxi/autopack.yaml", "container-image-uri: gcr.io/p/i:v1\n");
  CHECK(cli.pool({})["containerSpec"]["imageUri"] == "gcr.io/p/i:v1");
}

TEST_CASE("a tuning job takes the same flags") {
  Front cli;
  const Strings study{"--metric=loss:minimize", "--parameter=rate:0.1..1.0"};
  const auto body = cli.body(study, "tune");
  const auto& pool = body["trialJobSpec"]["workerPoolSpecs"][0];
  CHECK(pool["machineSpec"]["machineType"] == "n1-standard-4");
  CHECK(cli.told("Inferred  script `train.py`"));
  CHECK(cli.told("one trial is no search"));
  cli.body({"--metric=loss:minimize", "--parameter=rate:0.1..1.0", "--max-trial-count=1"}, "tune");
  CHECK_FALSE(cli.told("one trial is no search"));
}

}  // namespace autopack::testing::cli_submit_test
