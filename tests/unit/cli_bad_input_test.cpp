#include "support/cli_run.hpp"

#include <doctest/doctest.h>

namespace autopack::testing::cli_bad_input_test {

namespace {

struct Case {
  std::vector<std::string> arguments{};
  std::vector<std::string> told{};  ///< parts of the standard error
  std::map<std::string, std::string> variables{};
  int status{2};
};

const std::string base = "--executor-image-uri=python:3";
const std::string script = "--script=train.py";
const std::string ready =
    "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=gcr.io/p/i";
const std::string packaged =
    "--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=python:3,"
    "local-package-path=.,script=";

void check(const Case& item) {
  std::string typed;
  for (const auto& argument : item.arguments) {
    typed += argument + " ";
  }
  CAPTURE(typed);
  CliRun cli;
  cli.write("train.py", "print(1)\n");
  cli.write("loop.yaml", "--flags-file: loop.yaml\n");
  cli.write("word.yaml", "region: x\n");
  cli.write("old.yaml", "trainingInput: {scaleTier: BASIC}\n");
  cli.write("broken.yaml", "--region: [\n");
  for (const auto& [name, value] : item.variables) {
    cli.set(name, value);
  }
  CHECK(cli.run(item.arguments) == item.status);
  CAPTURE(cli.errors);
  CHECK(cli.out.empty());
  CHECK(cli.errors.starts_with("error: "));
  CHECK(cli.errors.find("internal") == std::string::npos);
  for (const auto& part : item.told) {
    CAPTURE(part);
    CHECK(cli.errors.find(part) != std::string::npos);
  }
  CHECK(cli.docker.calls.empty());
}

}  // namespace

TEST_CASE("a bad command line is reported with the error and the correction") {
  for (const auto& item : std::vector<Case>{
           {{"--quiet"}, {"no command", "--help"}},
           {{"sumbit"}, {"`sumbit`", "did you mean `submit`?"}},
           {{"deploy"}, {"there is no command `deploy`", "`submit`, `tune`"}},
           {{"--script=x", "build"}, {"`--script=x` is not a flag that may precede a command"}},
           {{"build", "--base-imag=x"}, {"no flag `--base-imag`", "`--base-image`"}},
           {{"submit", "--regoin=x"}, {"`--regoin`", "did you mean `--region`?"}},
           {{"submit", "--display-name"}, {"`--display-name` needs a value"}},
           {{"build", "train.py"}, {"unexpected argument `train.py`"}},
           {{"run", base, "train.py"}, {"unexpected argument", "follow `--`"}, {}, 125},
           {{"build", base, script, "--", "x"},
            {"takes no arguments after `--`", "`autopack run`"}},
           {{"build", base, script, "--format=xml"}, {"`xml`", "`json`"}},
           {{"build", base, script, "--format=value()"}, {"`value()`"}},
           {{"build", base, script, "--color=blue"}, {"`blue`", "`always`"}},
           {{"build", base, script, "--progress=bar"}, {"`bar`", "`plain`"}},
           {{"build", base, script, "--verbosity=loud"}, {"`loud`"}},
           {{"build", base, script}, {"`purple`"}, {{"AUTOPACK_COLOR", "purple"}}},
           {{"build", base, script},
            {"`soon`", "AUTOPACK_NO_PUSH"},
            {{"AUTOPACK_NO_PUSH", "soon"}}},
           {{"-C", "nowhere", "build"}, {"`nowhere`"}},
           {{"help", "sumbit"}, {"did you mean `submit`?"}},
           {{"jobs", "list", "--state=runing", "--project=p", "--region=us-central1"},
            {"`runing`", "did you mean `running`?"}},
           {{"build", "--flags-file=gone.yaml"}, {"`--flags-file`", "`gone.yaml`"}},
           {{"build", "--flags-file=loop.yaml"}, {"`loop.yaml` names itself"}},
           {{"build", "--flags-file=word.yaml"}, {"`word.yaml` line 1", "`region` is not a flag"}},
           {{"build", "--flags-file=broken.yaml"}, {"`broken.yaml`", "is not YAML"}},
       }) {
    check(item);
  }
}

TEST_CASE("jobs of other kinds that cannot be are refused before anything is sent") {
  const std::vector<std::string> where{"--project=p", "--region=us-central1"};
  for (auto item : std::vector<Case>{
           {{"tune", ready}, {"the study has no metric", "the study has no parameter"}},
           {{"tune", ready, "--metric=a:max", "--parameter=x:1..2"}, {"`a:max` is not a metric"}},
           {{"tune", ready, "--metric=a:maximize", "--parameter=x:1..2", "--with-hypertune"},
            {"nothing is packaged", "local-package-path=. in"}},
           {{"tune", ready, "--metric=a:maximize", "--parameter=x:1..2", "--max-replicas=2"},
            {"`--max-replicas` is for `--submitter=local`"}},
           {{"submit", ready, "--metric=a:maximize"}, {"`--metric`"}},
           {{"submit", ready, "--as=pipeline"}, {"`pipeline`", "`training-pipeline`"}},
           {{"submit", ready, "--as=training-pipeline", "--model-display-name=m"},
            {"has no serving image"}},
           {{"submit", ready, "--model-id=m"}, {"`--model-id` is for a training pipeline"}},
           {{"submit", "--config=old.yaml"},
            {"legacy AI Platform, which has ended", "autopack translate --config=old.yaml"}},
           {{"translate"}, {"the job has nothing to run"}},
           {{"translate", "--config=gone.yaml"}, {"`gone.yaml`", "does not exist"}},
           {{"translate", "one", "two"}, {"unexpected argument `two`"}},
           {{"translate", "j", "--scale-tear=basic"}, {"`--scale-tear`", "`--scale-tier`"}},
           {{"translate", "j", "--labels=a", "--master-image-uri=i"}, {"is not KEY=VALUE"}},
       }) {
    if (item.arguments.front() != "translate") {
      item.arguments.insert(item.arguments.end(), where.begin(), where.end());
    }
    check(item);
  }
}

TEST_CASE("packaging that cannot work is refused before an engine is asked") {
  for (const auto& item : std::vector<Case>{
           {{"build", script, "--no-infer"},
            {"`--executor-image-uri` is missing", "`--dockerfile FILE`"}},
           {{"build", base, "--no-infer"}, {"--script", "--python-module"}},
           {{"build", base, "--script=train.ipynb"}, {"train.ipynb"}},
           {{"run", base, script, "--volume=gone:/d", "--publish=x", "--env-file=none"},
            {"`gone:/d`", "`x` of `--publish`", "`none` of `--env-file`"},
            {},
            125},
           {{"run", base, script, "--volume=.:d"}, {"absolute"}, {}, 125},
           {{"run", base, script, "--publish=6006:70000"}, {"`6006:70000`"}, {}, 125},
           {{"build", base, "--script=gone.py"}, {"gone.py"}},
           {{"build", base, "--script=../train.py"}, {"../train.py"}},
           {{"build", base, "--python-module=train.task"}, {"train.task"}},
           {{"build", base, script, "--local-package-path=gone"}, {"gone"}},
           {{"build", base, script, "--output-image-uri=gcr.io/P/x"}, {"gcr.io/P/x"}},
           {{"build", base, script, "--engine=crane"}, {"`crane`", "`docker`"}},
           {{"build", base, script, "--source="}, {"`--source` is empty"}},
           {{"build", base, script, "--platform=pc"}, {"`pc`", "linux/amd64"}},
           {{"build", "--dockerfile=gone"}, {"gone"}},
           {{"submit", "--project=p", "--region=us-central1", base, script, "--build-env=A=1,B"},
            {"`B`", "`--build-env`"}},
           {{"build", "--dockerfile=train.py", script, "--requirements=six", "--extra-dirs=d",
             "--system-packages=git", "--build-env=A=1"},
            {"`script` has no effect on the Dockerfile `train.py`", "`requirements` has no",
             "`extra-dirs` has no", "`system-packages` has no", "`build-env` has no"}},
           {{"run", base, "--gpus=two", script}, {"`two`", "`--gpus=all`"}, {}, 125},
           {{"run", base, "--gpus=device=", script}, {"`device=`", "`--gpus=2`"}, {}, 125},
           {{"run", base, "--gpus=0", script}, {"`0` of `--gpus`"}, {}, 125},
           {{"run", base, "--gpus=device=0,nvidia.com/gpu=1", script},
            {"is not a list of GPUs"},
            {},
            125},
           {{"run", base, "--network=host", script},
            {"`run` has no flag for the network", "`--publish=PORT:PORT`"},
            {},
            125},
           {{"run", base, "--rm", script}, {"removed when the program ends"}, {}, 125},
           {{"run", base, "--shm-size=8g", script}, {"shared memory already"}, {}, 125},
           {{"run", base, "--no-infer", "--requirements=numpy"}, {"nothing to package"}, {}, 125},
           {{"run", base, script, "--docker-run-options=-v"}, {"--docker-run-options"}, {}, 125},
           {{"run", base, script, "--service-account-key-file=gone"},
            {"`gone` is not a file"},
            {},
            125},
           {{"dockerfile", base, script, "--check=gone"}, {"`--check`", "`gone`"}},
           {{"dockerfile", base, script, "--check=a", "-o", "b"}, {"exclude each other"}},
           {{"dockerfile", "--dockerfile=train.py"}, {"--dockerfile"}},
       }) {
    check(item);
  }
}

TEST_CASE("a job that cannot work is refused before anything is built") {
  const std::map<std::string, std::string> google{{"CLOUDSDK_CORE_PROJECT", "p"},
                                                  {"CLOUDSDK_AI_REGION", "us-central1"}};
  for (const auto& item : std::vector<Case>{
           {{"submit", ready}, {"no Google Cloud project", "no region", "2 errors"}},
           {{"submit", "--no-infer"}, {"--worker-pool-spec"}, google},
           {{"submit", "--worker-pool-spec="}, {"first"}, google},
           {{"submit", ready, "--display-name="}, {"`--display-name` is empty"}, google},
           {{"submit", ready, "--account=me"},
            {"`me`, named by `--account`", "gcloud auth list"},
            google},
           {{"submit", ready, "--impersonate-service-account=sa"},
            {"`sa` in `--impersonate"},
            google},
           {{"submit", ready, "--submitter=condor"}, {"`condor`", "`local`"}, google},
           {{"submit", ready, "--submitter=none", "--dry-run"}, {"no request"}, google},
           {{"submit", ready, "--config=gone.yaml"}, {"`--config`", "`gone.yaml`"}, google},
           {{"submit", ready, "--labels=Team=x"}, {"Team"}, google},
           {{"submit", ready, "--env=ONLY"}, {"ONLY"}, google},
           {{"submit", ready, "--timeout=soon"}, {"soon"}, google},
           {{"submit", ready, "--boot-disk-size=big"}, {"`big`", "whole number"}, google},
           {{"submit", ready, "--region=us-centrel1"}, {"us-centrel1", "us-central1"}, google},
           {{"submit", ready + ",replica-count=2", "--submitter=local"}, {"replica"}},
           {{"submit", ready, ready, "--submitter=local", "--max-replicas=1"}, {"2 pools"}},
           {{"submit", ready, "--submitter=local", "--max-replicas=0", "--replica-memory=much",
             "--replica-cpus=-1", "--gcs=b", "--gcs=b=gone", "--fail=soon", "--volume=nowhere:/d"},
            {"`0` of `--max-replicas`", "`much`", "`-1`", "`b` of `--gcs`", "`b=gone`", "`soon`",
             "`nowhere:/d`"}},
           {{"submit", ready, "--submitter=local", "--fail=workerpool1-0@1s"},
            {"no replica `workerpool1-0`"}},
           {{"submit", packaged + "gone.py,replica-count=0"}, {"gone.py", "replica"}, google},
       }) {
    check(item);
  }
}

TEST_CASE("an error is an object on standard output when JSON is asked for") {
  CliRun cli;
  CHECK(cli.run({"build", "--regoin=x", "--format=json"}) == 2);
  CHECK(cli.out.find(R"("kind": "usage")") != std::string::npos);
  CHECK(cli.run({"--format=json", "sumbit"}) == 2);
  CHECK(cli.out.find("did you mean") != std::string::npos);
}

TEST_CASE("a login in an address is not printed, not even with -vv") {
  struct Row {
    const char* flag;
    const char* shown;
    const char* remedy;
  };

  CliRun cli;
  cli.write("train.py", "");
  for (const Row& row :
       {Row{"--engine-host=ssh://me:s3cret@host", "`ssh://***@host`", "--engine-host=ssh://user"},
        Row{"--executor-image-uri=https://me:s3cret@host/x", "`https://***@host/x`",
            "write `host/x`"}}) {
    cli.run({"run", "-vv", script, row.flag});
    CAPTURE(cli.errors);
    CHECK(cli.errors.find("s3cret") == std::string::npos);
    CHECK(cli.errors.find(row.shown) != std::string::npos);
    CHECK(cli.errors.find(row.remedy) != std::string::npos);
  }
}

}  // namespace autopack::testing::cli_bad_input_test
