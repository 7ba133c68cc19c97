#include "base/error.hpp"
#include "base/json.hpp"
#include "job/make_job.hpp"
#include "support/job_findings.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::job_bad_input_test {

namespace {

using testing::Case;
using testing::check_all;
using testing::findings_of;
using testing::tells;

const std::string pool = "--worker-pool-spec=";
const std::string good = "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=i";
const std::string packaged =
    "--worker-pool-spec=machine-type=n1-standard-4,executor-image-uri=b,local-package-path=.,";

}  // namespace

TEST_CASE("pool flags that cannot be read") {
  check_all(
      {
          {{pool + "machine-type=n1-standard-4,container-image-uri=i,foo=1"},
           "",
           {"unknown key `foo` (`--worker-pool-spec` number 1)"}},
          {{good,
            pool + "machine-typ=n1-standard-4,container-image-uri=i,machine-type=e2-highmem-2"},
           "",
           {"unknown key `machine-typ` (did you mean `machine-type`?) (`--worker-pool-spec` number "
            "2)"}},
          {{good + ",x"}, "", {"`x` is not KEY=VALUE"}},
          {{good + ",replica-count"}, "", {"key `replica-count` has no value"}},
          {{good + ",replica-count="}, "", {"key `replica-count` has no value"}},
          {{good + ",replica-count=two"}, "", {"key `replica-count` is not a whole number: `two`"}},
          {{good + ",replica-count=1.5"}, "", {"not a whole number: `1.5`"}},
          {{good + ",replica-count=99999999999999999999"}, "", {"not a whole number"}},
          {{good + ",machine-type=n1-standard-8"}, "", {"key `machine-type` is given twice"}},
          {{good + ",machine-type=\x1b[31m"}, "", {"key `machine-type` is given twice"}},
          {{"--worker-pool-spec=^^a=b"},
           "",
           {"has no delimiter between `^` and `^`", "the first worker pool is empty"}},
          {{packaged + "script=a.py,requirements=x>=1,<2"}, "", {"`<2` is not KEY=VALUE"}},
      },
      Problem::Severity::error);
}

TEST_CASE("pool flags that contradict each other") {
  check_all(
      {
          {{}, "", {"the job has no worker pool"}},
          {{pool}, "", {"the first worker pool is empty"}},
          {{pool, good}, "", {"the first worker pool is empty"}},
          {{pool + "container-image-uri=i"}, "", {"`workerPoolSpecs[0]` has no `machine-type`"}},
          {{pool + "machine-type=n1-standard-4"}, "", {"`workerPoolSpecs[0]` has nothing to run"}},
          {{good + ",executor-image-uri=e,python-module=m"},
           "",
           {"`container-image-uri` and `executor-image-uri` exclude each other",
            "`container-image-uri` and `python-module` exclude each other",
            "has both a container and a Python package"}},
          {{pool + "machine-type=n1-standard-4,executor-image-uri=e",
            "--python-package-uris=gs://b/a"},
           "",
           {"needs a module to run"}},
          {{pool + "machine-type=n1-standard-4,python-module=m", "--python-package-uris=gs://b/a"},
           "",
           {"needs an executor image"}},
          {{good + ",script=a.py"}, "", {"`script` and `container-image-uri` exclude each other"}},
          {{good + ",requirements=a,extra-dirs=d"},
           "",
           {"`requirements`, `extra-dirs` and `container-image-uri` exclude each other"}},
          {{good, good + ",local-package-path=."}, "", {"only for the first pool"}},
          {{pool + "machine-type=n1-standard-4,local-package-path=.,script=a.py"},
           "",
           {"`executor-image-uri` is needed"}},
          {{packaged + "script=a.py,python-module=m"},
           "",
           {"`script` and `python-module` exclude"}},
          {{packaged + "requirements=x"}, "", {"`script` or `python-module` is needed"}},
          {{packaged + "script=a.py,container-image-uri=i"},
           "",
           {"`container-image-uri` and `local-package-path` exclude"}},
          {{packaged + "script=a.py,output-image-uri=a b"}, "", {"`a b` is not an image name"}},
          {{packaged + "script=a.py,output-image-uri=a/b@sha256:" + std::string(64, 'a')},
           "",
           {"names a digest"}},
          {{packaged + "script=a.py", good},
           "",
           {"`container-image-uri` is not allowed here: all pools run the image that the first "
            "pool "
            "packages (`--worker-pool-spec` number 2)"}},
          {{packaged + "script=a.py", pool + "machine-type=n1-standard-4,script=b,extra-dirs=c"},
           "",
           {"`script`, `extra-dirs` are not allowed here"}},
          {{packaged + "script=a.py,system-packages=x", "--dockerfile=D"},
           "",
           {"`script`, `system-packages` and `--dockerfile` exclude each other"}},
          {{good, good, good, good, good}, "", {"has 5 worker pools"}},
      },
      Problem::Severity::error);
}

TEST_CASE("machines, accelerators, disks and replicas") {
  check_all(
      {
          {{good + ",replica-count=2"}, "", {"the primary pool has exactly one replica"}},
          {{good + ",replica-count=0"}, "", {"a pool has at least one replica"}},
          {{good, good + ",replica-count=-1"},
           "",
           {"`replica-count` is -1; a pool has at least one replica (`--worker-pool-spec` number "
            "2)"}},
          {{good + ",accelerator-type=T4"},
           "",
           {"unknown accelerator type `T4` (did you mean `NVIDIA_TESLA_T4`?)"}},
          {{good + ",accelerator-type=nvidia_tesla_t4"}, "", {"(did you mean `NVIDIA_TESLA_T4`?)"}},
          {{good + ",accelerator-count=1"},
           "",
           {"`accelerator-count` is given without `accelerator-type`"}},
          {{good + ",accelerator-type=NVIDIA_TESLA_T4,accelerator-count=0"},
           "",
           {"`accelerator-count` is 0"}},
          {{good + ",accelerator-type=NVIDIA_TESLA_T4,accelerator-count=3"},
           "",
           {"`n1-standard-4` does not support 3 `NVIDIA_TESLA_T4`; it supports 1, 2, 4"}},
          {{good + ",accelerator-type=NVIDIA_TESLA_K80"},
           "",
           {"does not support `NVIDIA_TESLA_K80`"}},
          {{pool + "machine-type=e2-standard-4,container-image-uri=i,accelerator-type=NVIDIA_L4"},
           "",
           {"does not support accelerators"}},
          {{pool +
            "machine-type=a2-highgpu-2g,container-image-uri=i,accelerator-type=NVIDIA_TESLA_A100"},
           "",
           {"has 2 `NVIDIA_TESLA_A100`, not 1"}},
          {{pool + "machine-type=ct5lp-hightpu-4t,container-image-uri=i"},
           "",
           {"needs a TPU topology"}},
          {{pool + "machine-type=ct5lp-hightpu-4t,container-image-uri=i", "--tpu-topology=3x3"},
           "",
           {"has no topology `3x3`"}},
          {{good, "--tpu-topology=1x1"}, "", {"has no TPU topology (`--tpu-topology`)"}},
          {{pool + "machine-type=ct5lp-hightpu-1t,container-image-uri=i", good,
            "--tpu-topology=1x1"},
           "",
           {"a job on TPUs has one worker pool", "`n1-standard-4` has no TPU topology"}},
          {{good, "--python-package-uris=gs://b/a"}, "", {"reaches no pool: all run containers"}},
          {{},
           "workerPoolSpecs:\n- machineSpec: {machineType: n1-standard-4, acceleratorType: "
           "NVIDIA_TESLA_T4}\n  containerSpec: {imageUri: i}\n  replicaCount: 3\n",
           {"`workerPoolSpecs[0].machineSpec.acceleratorType` is given without "
            "`workerPoolSpecs[0].machineSpec.acceleratorCount`",
            "`workerPoolSpecs[0].replicaCount` is 3; the primary pool has exactly one replica "
            "(job.yaml:4)"}},
          {{good, "--boot-disk-size=50"}, "", {"is 50; a boot disk has 100 to 64000 GB"}},
          {{good, "--boot-disk-type=pd-sdd"}, "", {"(did you mean `pd-ssd`?)"}},
      },
      Problem::Severity::error);
  check_all(
      {
          {{pool + "machine-type=n1-standrd-4,container-image-uri=i"},
           "",
           {"unknown machine type `n1-standrd-4` (did you mean `n1-standard-4`?)"}},
          {{good + ",output-image-uri=a/b"}, "", {"nothing is packaged"}},
          {{pool + "machine-type=n1-standard-4,executor-image-uri=e,python-module=m",
            "--command=x"},
           "",
           {"no pool runs a container", "names no packages"}},
          {{good, "--max-wait-duration=1h"}, "", {"only with strategy FLEX_START"}},
          {{pool + "machine-type=g2-standard-4,container-image-uri=i"}, "", {"has 1 `NVIDIA_L4`"}},
      },
      Problem::Severity::warning);
}

TEST_CASE("warnings about spelling are reported together with errors") {
  const auto problems = findings_of(
      {{pool + "machine-type=n1-standrd-4,container-image-uri=i", "--region=us-centrall"}, "", {}});
  REQUIRE(problems.size() == 2);
  CHECK(tells(problems, "unknown machine type `n1-standrd-4` (did you mean `n1-standard-4`?)"));
  CHECK(tells(problems, "unknown region `us-centrall` (did you mean `us-central1`?)"));
}

TEST_CASE("fields of the job") {
  check_all(
      {
          {{good, "--region=us-centrall"}, "", {"(did you mean `us-central1`?) (`--region`)"}},
          {{good, "--region=us-central1.evil.example/"}, "", {"unknown region"}},
          {{good, "--display-name=" + std::string(129, 'x')}, "", {"has 129 characters"}},
          {{good, "--labels=Team=x"}, "", {"`Team` is not a label key"}},
          {{good, "--labels=team=X"}, "", {"the value of label `team`"}},
          {{good, "--labels=team"}, "", {"`team` in `--labels` is not KEY=VALUE"}},
          {{good, "--labels=a=1,a=2"}, "", {"key `a` is given twice in `--labels`"}},
          {{good, "--env=1A=x"}, "", {"`1A` is not a valid name for an environment variable"}},
          {{good, "--args=" + std::string(100'001, 'x')}, "", {"has 100001 characters"}},
          {{good, "--network=default"}, "", {"`default` is not a valid name for `network`"}},
          {{good, "--network=projects/my-project/global/networks/n"},
           "",
           {"the number of the project"}},
          {{good, "--service-account=foo"}, "", {"`foo` is not a valid name for `serviceAccount`"}},
          {{good, "--tensorboard=projects/p/locations/europe-west4/tensorboards/1"},
           "",
           {"is in `europe-west4`, but the job is in `us-central1`", "needs a service account"}},
          {{good, "--kms-key=k"}, "", {"`--kms-keyring` is needed", "`--kms-location` is needed"}},
          {{good, "--kms-keyring=r"}, "", {"without `--kms-key`"}},
          {{good, "--kms-key=projects/p/k"},
           "",
           {"is not a valid name for `encryptionSpec.kmsKeyName`"}},
          {{good, "--base-output-dir=/out"}, "", {"expected `gs://BUCKET/PATH`"}},
          {{good, "--timeout=1w"}, "", {"`1w` is not a duration"}},
          {{good, "--strategy=SPOTT"}, "", {"unknown strategy `SPOTT` (did you mean `SPOT`?)"}},
          {{good, "--strategy=FLEX_START", "--timeout=8d"},
           "",
           {"at most 7 days, not `691200s`", "not with no accelerator"}},
      },
      Problem::Severity::error);
}

TEST_CASE("configuration files") {
  const std::string head = "workerPoolSpecs:\n- machineSpec: {machineType: n1-standard-4}\n";
  const std::string tail = "  containerSpec: {imageUri: i}\n";
  check_all(
      {
          {{}, "# nothing\n", {"`job.yaml` is empty", "no worker pool"}},
          {{}, "a: [", {"`job.yaml` is not YAML", "no worker pool"}},
          {{}, "- a\n", {"is a list, not a mapping (job.yaml:1)", "no worker pool"}},
          {{}, head + tail + "---\na: b\n", {"more than one document", "no worker pool"}},
          {{},
           head + tail + "servceAccount: x\n",
           {"unknown key `servceAccount` in CustomJobSpec (did you mean `serviceAccount`?) "
            "(job.yaml:4)"}},
          {{}, head + tail + "service_acount: x\n", {"(did you mean `serviceAccount`?)"}},
          {{},
           head + tail + "network: a\nnetwork: b\n",
           {"`network` is given twice (job.yaml:5)", "is not a valid name for `network`"}},
          {{},
           head + tail + "enable_web_access: true\nenableWebAccess: true\n",
           {"`enableWebAccess` is given twice"}},
          {{},
           "workerPoolSpecs:\n- machineSpec:\n    machineType: 5\n" + tail,
           {"`workerPoolSpecs[0].machineSpec.machineType` is a whole number, not a string "
            "(job.yaml:3)"}},
          {{},
           head + tail + "  replicaCount: two\n",
           {"`workerPoolSpecs[0].replicaCount` is not a decimal number: `two`"}},
          {{}, head + tail + "  replicaCount: 1.5\n", {"is a number, not a whole number"}},
          {{}, head + tail + "  replicaCount: 0x1\n", {"is not a decimal number: `0x1`"}},
          {{}, head + tail + "  diskSpec: {bootDiskSizeGb: 9999999999}\n", {"is too large"}},
          {{}, head + tail + "enableWebAccess: yes\n", {"is a string, not `true` or `false`"}},
          {{},
           head + tail + "scheduling: {strategy: NOPE}\n",
           {"`scheduling.strategy` has no value `NOPE`", "unknown strategy"}},
          {{},
           head + tail + "scheduling: {timeout: 3600}\n",
           {"is a whole number, not a duration"}},
          {{},
           head + tail + "baseOutputDirectory: gs://b\n",
           {"is a string, not a mapping", "`baseOutputDirectory.outputUriPrefix` is missing"}},
          {{}, head + tail + "reservedIpRanges: r\n", {"is a string, not a list"}},
          {{},
           head + tail + "reservedIpRanges: [r, ]\nmodels: [~]\n",
           {"`models[0]` is empty, not a string"}},
          {{},
           head + "  containerSpec: {imageUri: i, env: [{name: A, value: 4711}]}\n",
           {"`workerPoolSpecs[0].containerSpec.env[0].value` is a whole number, not a string"}},
          {{},
           head + "  containerSpec: {imageUri: i, env: [{name: A}]}\n",
           {"env[0].value` is missing"}},
          {{},
           head +
               "  containerSpec: {imageUri: i, env: [{name: A, value: a}, {name: A, value: b}]}\n",
           {"`A` is set twice (job.yaml:3)"}},
          {{},
           head + "  containerSpec: {imageUri: i, args: [1, true]}\n",
           {"args[0]` is a whole number", "args[1]` is a boolean"}},
          {{}, head + "  containerSpec: {command: [x]}\n", {"names no `imageUri`"}},
          {{},
           head + tail +
               "  pythonPackageSpec: {executorImageUri: e, pythonModule: m, packageUris: [a]}\n",
           {"has both a container and a Python package"}},
          {{},
           head + tail +
               "  nfsMounts: [{server: s, path: p}]\nnetwork: projects/1/global/networks/n\n",
           {"`workerPoolSpecs[0].nfsMounts[0].mountPoint` is missing (job.yaml:4)"}},
          {{},
           head + tail +
               "network: projects/1/global/networks/n\npscInterfaceConfig: {networkAttachment: "
               "a}\n",
           {"exclude each other"}},
          {{}, head + tail + "<<: {network: n}\n", {"merge key"}},
          {{}, head + tail + "? [a]\n: b\n", {"a key in `job.yaml` is a list, not a string"}},
          {{}, head + tail + "network: !x n\n", {"a value tagged `!x`"}},
          {{},
           "displayName: d\nlabels: {a: 1}\njobSpec:\n  " +
               std::string{"workerPoolSpecs: [{machineSpec: {machineType: n1-standard-4}, "
                           "containerSpec: {imageUri: i}}]\n"},
           {"`labels.a` is a whole number, not a string"}},
          {{},
           "studySpec: {}\ntrialJobSpec: {}\n",
           {"no worker pool", "no metric", "no parameter"}},
          {{}, "trainingInput: {}\n", {"legacy AI Platform", "no worker pool"}},
          {{"--args=x"},
           head + tail + "- machineSpec: {machineType: n1-standard-4}\n" + tail,
           {"`--args` reaches no pool"}},
          {{pool + "executor-image-uri=e,python-module=m"},
           head + tail,
           {"has both a container and a Python package to run; drop one (`--worker-pool-spec` "
            "number 1)"}},
      },
      Problem::Severity::error);
  check_all(
      {{{},
        head + tail +
            "  lustreMounts: [{instanceIp: a, volumeHandle: b, filesystem: c, mountPoint: d}]\n",
        {"requires a network"}},
       {{},
        "state: JOB_STATE_FAILED\ndisplayName: d\njobSpec: {workerPoolSpecs: [{machineSpec: "
        "{machineType: n1-standard-4}, containerSpec: {imageUri: i}}]}\n",
        {"`state` is set by the service and is left out (job.yaml:1)"}}},
      Problem::Severity::warning);
}

TEST_CASE("text after the end of a document is refused") {
  Problems problems;
  job::parse_config("{\n\"a\": \"b\"\n},\n Spec\": {\n \"c\": {\n \"d\": 1\n}\n}\n}", "f",
                    problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message == "`f` contains more than one document: line 3 begins another");
}

TEST_CASE("an alias bomb is refused") {
  std::string bomb = "workerPoolSpecs:\n- &p {containerSpec: {imageUri: i, args: &a [";
  for (int i = 0; i < 1000; ++i) {
    bomb += "q,";
  }
  bomb += "]}}\n";
  for (int i = 0; i < 1000; ++i) {
    bomb += "- *p\n";
  }
  Problems problems;
  job::parse_config(bomb, "bomb.yaml", problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message.find("`bomb.yaml` is not YAML: it is too large once its aliases are") ==
        0);
  problems.clear();
  job::parse_config(std::string((1U << 20U) + 1, ' '), "big.yaml", problems);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].message == "`big.yaml` is larger than 1 MiB");
}

TEST_CASE("skip-checks turns off tables of service facts and nothing else") {
  const job::CheckOptions skip{.skip_tables = true};
  CHECK(findings_of(
            {{good + ",accelerator-type=NVIDIA_NEW,accelerator-count=3", "--region=mars-east1"}},
            skip)
            .empty());
  CHECK(tells(findings_of({{good + ",replica-count=2"}}, skip), "exactly one replica"));
  CHECK(tells(findings_of({{good, "--region=a/b"}}, skip), "unknown region"));
  CHECK(tells(findings_of({{good, "--strategy=X"}}, skip), "unknown strategy"));
}

TEST_CASE("a prebuilt image after its end of support is reported") {
  const Case old{{pool + "machine-type=n1-standard-4,container-image-uri="
                         "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-17.py310:latest"}};
  CHECK(tells(findings_of(old, {.today = "2026-11-20"}), "was available until 2026-07-11"));
  CHECK(findings_of(old, {.today = "2026-07-11"}).empty());
}

}  // namespace autopack::job_bad_input_test
