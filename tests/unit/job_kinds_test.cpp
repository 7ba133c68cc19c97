#include "base/json.hpp"
#include "job/make_job.hpp"
#include "support/job_findings.hpp"

#include <doctest/doctest.h>

namespace autopack::job_kinds_test {

using nlohmann::json;
using testing::Case;
using testing::check_all;

namespace {

const std::string good = "--worker-pool-spec=machine-type=n1-standard-4,container-image-uri=i";
const std::string metric = "--metric=accuracy:maximize";
const std::string parameter = "--parameter=lr:double:1e-5..1e-1:log";
const std::string trial =
    "trialJobSpec: {workerPoolSpecs: [{machineSpec: {machineType: "
    "n1-standard-4}, containerSpec: {imageUri: i}}]}\n";
const std::string task =
    "trainingTaskInputs: {workerPoolSpecs: [{machineSpec: {machineType: "
    "n1-standard-4}, containerSpec: {imageUri: i}}]}\n";

/// `tune` with a good job, and `argv`.
Case tuned(std::vector<std::string> argv, std::vector<std::string> findings) {
  argv.insert(argv.begin(), {"tune", good});
  return {std::move(argv), "", std::move(findings)};
}

/// A file with one metric and these parameters.
Case study(const std::string& parameters, std::vector<std::string> findings) {
  return {{},
          "studySpec:\n  metrics: [{metricId: loss, goal: MINIMIZE}]\n  parameters:\n" +
              parameters + trial,
          std::move(findings)};
}

Case pipeline(const std::string& rest, std::vector<std::string> findings) {
  return {{}, task + rest, std::move(findings)};
}

json body_of(const std::vector<std::string>& argv) {
  auto arguments = testing::read_job_arguments(argv);
  const auto made = job::make_job(
      arguments.flags, nullptr, {.project = "p", .region = "us-central1"}, {}, arguments.problems);
  return job::resource(made.job);
}

}  // namespace

TEST_CASE("flags of a study that cannot be read") {
  check_all(
      {
          tuned({parameter}, {"the study has no metric"}),
          tuned({metric}, {"the study has no parameter"}),
          tuned({metric, parameter, "--metric=loss"},
                {"`loss` is not a metric: expected NAME:maximize"}),
          tuned({parameter, "--metric=loss:smaller"}, {"`loss:smaller` is not a metric"}),
          tuned({parameter, "--metric=:maximize"}, {"`:maximize` is not a metric"}),
          tuned({parameter, metric, metric}, {"metric `accuracy` is given twice (`--metric`)"}),
          tuned({parameter, "--metric=my loss:minimize"}, {"contains white space"}),
          tuned({metric, "--parameter=lr"}, {"a parameter is NAME:VALUES"}),
          tuned({metric, "--parameter=:1..2"}, {"a parameter is NAME:VALUES"}),
          tuned({metric, "--parameter=lr:"}, {"a parameter is NAME:VALUES"}),
          tuned({metric, "--parameter=lr:float:1..2"}, {"`float` is not a type"}),
          tuned({metric, "--parameter=lr:double:1..2:square"}, {"`square` is not a scale"}),
          tuned({metric, "--parameter=lr:double:1-2"}, {"a range is MIN..MAX"}),
          tuned({metric, "--parameter=lr:double:a..2"}, {"`a` is not a number"}),
          tuned({metric, "--parameter=lr:double:1..inf"}, {"`inf` is not a number"}),
          tuned({metric, "--parameter=n:int:1..2.5"}, {"`2.5` is not a whole number"}),
          tuned({metric, "--parameter=n:discrete:1|two"}, {"`two` is not a number"}),
          tuned({metric, "--parameter=n:discrete:4|2"}, {"must increase"}),
          tuned({metric, "--parameter=n:int:5..1"}, {"ends before it begins: 5 to 1"}),
          tuned({metric, "--parameter=n:int:0..9:log"}, {"begins at 0, but a log scale"}),
          tuned({metric, "--parameter=n:double:-1..9:reverse-log"}, {"begins at -1, but a log"}),
          tuned({metric, "--parameter=n:discrete:0|9:log"}, {"begins at 0, but a log scale"}),
          tuned({metric, "--parameter=opt:adam|adam"},
                {
                    "value `adam` of",
                }),
          tuned({metric, parameter, parameter}, {"parameter `lr` is given twice"}),
          tuned({metric, "--parameter=my lr:1..2"},
                {"`my lr` is not a valid name for a parameter"}),
          tuned({metric, parameter, "--max-trial-count=0"}, {"`maxTrialCount` is 0"}),
          tuned({metric, parameter, "--parallel-trial-count=3"},
                {"3 trials run at a time, but only 1 in all"}),
          tuned({metric, parameter, "--max-failed-trial-count=-1"}, {"0 lets the service decide"}),
          tuned({metric, parameter, "--max-trial-count=3000000000"},
                {"`--max-trial-count` is too large"}),
          tuned({metric, parameter, "--algorithm=grid-serch"},
                {"has no value `grid-serch` (did you mean `grid-search`?)"}),
          tuned({metric, parameter, "--measurement-selection=worst"}, {"has no value `worst`"}),
          tuned({metric, parameter, "--early-stopping=mean"}, {"has no value `mean`"}),
          {{good, "--max-trial-count=2"}, "", {"`--max-trial-count` is for a tuning job"}},
          {{good, metric, parameter},
           "",
           {"`--metric` is for a tuning job", "`--parameter` is for a tuning job"}},
      },
      Problem::Severity::error);
}

TEST_CASE("a study in a file that cannot be") {
  check_all(
      {
          {{}, "studySpec: {metrics: [], parameters: []}\n" + trial, {"no metric", "no parameter"}},
          {{"tune", good},
           "metrics: [{metricId: a, goal: MAXIMIZE}]\nparameters: [{parameterId: x}]\n",
           {"parameter `x` has no values"}},
          study("  - {parameterId: x, doubleValueSpec: {minValue: 1}}\n",
                {"`studySpec.parameters[0].doubleValueSpec.maxValue` is missing"}),
          study("  - {parameterId: x, doubleValueSpec: {minValue: low, maxValue: 2}}\n",
                {"is a string, not a finite decimal number (job.yaml:4)"}),
          study("  - {parameterId: x, integerValueSpec: {minValue: 1.5, maxValue: 2}}\n",
                {"is a number, not a whole number"}),
          study("  - parameterId: x\n    doubleValueSpec: {minValue: 1, maxValue: 2}\n"
                "    discreteValueSpec: {values: [1]}\n",
                {"has `doubleValueSpec` and `discreteValueSpec`, which exclude each other"}),
          study("  - {parameterId: x, discreteValueSpec: {values: []}}\n", {"has no values"}),
          study("  - {parameterId: x, categoricalValueSpec: {values: [a]}, scaleType: "
                "UNIT_LINEAR_SCALE}\n",
                {"has categories, which have no scale"}),
          study("  - {parameterId: x, scaleType: LOG, categoricalValueSpec: {values: [a]}}\n",
                {"has no value `LOG`", "has categories, which have no scale"}),
          study("  - parameterId: x\n    categoricalValueSpec: {values: [a, b]}\n"
                "    conditionalParameterSpecs: [{parentCategoricalValues: {values: [c]},\n"
                "      parameterSpec: {parameterId: y, discreteValueSpec: {values: [1]}}}]\n",
                {"parent `x` never has the value `c` (job.yaml:6)"}),
          study("  - parameterId: x\n    integerValueSpec: {minValue: 1, maxValue: 3}\n"
                "    conditionalParameterSpecs: [{parentIntValues: {values: [4]},\n"
                "      parameterSpec: {parameterId: y, discreteValueSpec: {values: [1]}}}]\n",
                {"parent `x` never has the value `4`"}),
          study("  - parameterId: x\n    integerValueSpec: {minValue: 1, maxValue: 3}\n"
                "    conditionalParameterSpecs: [{parentDiscreteValues: {values: [2]},\n"
                "      parameterSpec: {parameterId: y, discreteValueSpec: {values: [1]}}}]\n",
                {"does not fit parent `x`, which has `integerValueSpec`"}),
          study("  - parameterId: x\n    doubleValueSpec: {minValue: 1, maxValue: 3}\n"
                "    conditionalParameterSpecs:\n"
                "    - parameterSpec: {parameterId: y, discreteValueSpec: {values: [2, 1]}}\n",
                {"names no values of its parent `x`", "must increase"}),
          {{},
           "studySpec:\n  metrics: [{metricId: loss, goal: GOAL_TYPE_UNSPECIFIED}]\n"
           "  parameters: [{parameterId: x, discreteValueSpec: {values: [1]}}]\n"
           "  algorithm: GRID_SERCH\n" +
               trial,
           {"metric `loss` needs a goal", "did you mean `GRID_SEARCH`?"}},
          {{},
           "studySpec:\n  metrics: [{metricId: loss}]\n"
           "  parameters: [{parameterId: x, discreteValueSpec: {values: [1]}}]\n"
           "  medianAutomatedStoppingSpec: {}\n  decayCurveStoppingSpec: {}\n" +
               trial,
           {"`studySpec.metrics[0].goal` is missing",
            "has `decayCurveStoppingSpec` and `medianAutomatedStoppingSpec`, which exclude"}},
          {{},
           "maxTrialCount: 2\nparalelTrialCount: 1\nstudySpec:\n"
           "  metrics: [{metricId: loss, goal: MINIMIZE}]\n"
           "  parameters: [{parameterId: x, discreteValueSpec: {values: [1]}}]\n" +
               trial,
           {"unknown key `paralelTrialCount` in HyperparameterTuningJob (did you mean "
            "`parallelTrialCount`?)"}},
      },
      Problem::Severity::error);
}

TEST_CASE("parts of a study that only Vizier uses are warnings") {
  check_all(
      {
          study("  - {parameterId: x, discreteValueSpec: {values: [1], defaultValue: 1}}\n"
                "  observationNoise: LOW\n",
                {"discreteValueSpec.defaultValue` is not used", "observationNoise` is not used"}),
          tuned({metric, parameter, "--algorithm=grid-search"},
                {"a grid search wants INTEGER, DISCRETE or CATEGORICAL"}),
      },
      Problem::Severity::warning);
}

TEST_CASE("a training pipeline that cannot be") {
  check_all(
      {
          pipeline("trainingTaskDefinition: gs://b/automl.yaml\n",
                   {"`gs://b/automl.yaml` is not a task that autopack can submit (job.yaml:2)"}),
          pipeline("modelId: 1st\n", {"`1st` is not a model id", "no model to upload"}),
          pipeline("parentModel: m\n", {"`m` is not the name of a model", "no model to upload"}),
          pipeline("parentModel: projects/p/locations/europe-west4/models/7\n"
                   "modelToUpload: {displayName: m, artifactUri: 'gs://b/m', containerSpec: "
                   "{imageUri: i}}\n",
                   {"`parentModel` is in `europe-west4`, but the job is in `us-central1`"}),
          pipeline("modelToUpload: {artifactUri: 'gs://b/m'}\n",
                   {"the model to upload has no name", "has no serving image"}),
          pipeline("inputDataConfig: {gcsDestination: {outputUriPrefix: 'gs://b/d'}}\n",
                   {"`inputDataConfig.datasetId` is missing"}),
          pipeline("inputDataConfig: {datasetId: '7', gcsDestination: {outputUriPrefix: "
                   "'gs://b/d'}, fractionSplit: {trainingFraction: 0.8, testFraction: 0.4}}\n",
                   {"are 1.2000000000000002 together; 1 is the whole"}),
          pipeline("inputDataConfig: {datasetId: '7', gcsDestination: {outputUriPrefix: "
                   "'gs://b/d'}, fractionSplit: {}, predefinedSplit: {key: k}}\n",
                   {"has `fractionSplit` and `predefinedSplit`, which exclude each other"}),
          pipeline("modelToUpload: {displayName: m, artifactUri: 'gs://b/m', containerSpec: "
                   "{imageUri: i, ports: [{containerPort: eighty}]}}\n",
                   {"is not a decimal number: `eighty`"}),
          {{},
           "trainingTaskInputs: {workerPoolSpec: []}\ndisplayName: d\n",
           {"unknown key `workerPoolSpec` in CustomJobSpec", "no worker pool"}},
          {{"--as=custom-job"}, task, {"`job.yaml` is a TrainingPipeline, not a custom job"}},
          {{good, "--model-display-name=m", "--model-ports=80"},
           "",
           {"`--model-display-name` is for a training pipeline",
            "`--model-ports` is for a training pipeline"}},
          {{good, "--as=training-pipeline", "--base-output-dir=gs://b/o", "--model-display-name=m",
            "--model-image-uri=i", "--model-ports=x"},
           "",
           {"`x` is not a port (`--model-ports`)"}},
          {{},
           "trainingTaskInputs:\n  displayName: d\n  studySpec:\n"
           "    metrics: [{metricId: loss, goal: MINIMIZE}]\n"
           "    parameters: [{parameterId: x, discreteValueSpec: {values: [1]}}]\n  " +
               trial,
           {"`displayName` is in `trainingTaskInputs`, but belongs to the pipeline"}},
      },
      Problem::Severity::error);
}

TEST_CASE("flags of mounts and machines that cannot be") {
  check_all(
      {
          {{good, "--network=projects/1/global/networks/n", "--nfs-mount=server=1,path=/x"},
           "",
           {"`workerPoolSpecs[0].nfsMounts[0].mountPoint` is missing (`--nfs-mount`)"}},
          {{good, "--network=projects/1/global/networks/n",
            "--nfs-mount=server=1,path=/x,mount-point=m,mode=ro"},
           "",
           {"`mode` is not a key of `--nfs-mount`"}},
          {{good, "--network=projects/1/global/networks/n",
            "--lustre-mount=instance-ip=1,volume-handle=v,mount-point=m"},
           "",
           {"`workerPoolSpecs[0].lustreMounts[0].filesystem` is missing (`--lustre-mount`)"}},
          {{good, "--reservation-affinity=reservation-affinity-type=some"},
           "",
           {"`some` is not a value of `reservation-affinity-type`"}},
          {{good, "--dns-peering=domain=example.com."},
           "",
           {"targetProject` is missing (`--dns-peering`)", "targetNetwork` is missing"}},
          {{good, "--network=projects/1/global/networks/n", "--network-attachment=a"},
           "",
           {"`network` and `pscInterfaceConfig` exclude each other"}},
      },
      Problem::Severity::error);
}

TEST_CASE("a flag of a study takes the place of the file's entry of that name") {
  Problems problems;
  const auto config = job::parse_config(
      "studySpec:\n  metrics: [{metricId: loss, goal: MINIMIZE}]\n  parameters:\n"
      "  - {parameterId: lr, doubleValueSpec: {minValue: 1, maxValue: 2}}\n"
      "  - {parameterId: n, integerValueSpec: {minValue: 1, maxValue: 2}}\n"
      "  medianAutomatedStoppingSpec: {}\n" +
          trial,
      "study.yaml", problems);
  auto arguments = testing::read_job_arguments(
      {"tune", "--parameter=lr:1e-5..1", "--parameter=opt:adam|sgd", "--early-stopping=convex"});
  arguments.flags.display_name = "d";
  const auto made = job::make_job(arguments.flags, &config,
                                  {.project = "p", .region = "us-central1"}, {}, problems);
  const auto& study = made.job.study.value();
  REQUIRE(study.parameters->size() == 3);
  CHECK(study.parameters->at(0).real->most == 1.0);
  CHECK(study.parameters->at(1).id == "n");
  CHECK(study.parameters->at(2).categories->values == std::vector<std::string>{"adam", "sgd"});
  CHECK(study.metrics->size() == 1);
  CHECK_FALSE(study.median_stopping);
  CHECK(study.convex_stopping);
  CHECK(made.job.origins.at("studySpec.parameters[0]") == job::Origin::flag("--parameter"));
  CHECK(made.job.origins.at("studySpec.parameters[1]") == job::Origin::file("study.yaml", 5));
}

TEST_CASE("the type of a parameter follows from its values when it is not named") {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"x:1..9", "integerValueSpec"},
      {"x:1..9.5", "doubleValueSpec"},
      {"x:1e-3..1:log", "doubleValueSpec"},
      {"x:1|2|4.5", "discreteValueSpec"},
      {"x:relu|tanh", "categoricalValueSpec"},
      {"x:categorical:1|2", "categoricalValueSpec"},
      {"x:categorical:gs://a|gs://b", "categoricalValueSpec"},
      {"x:double:1..2", "doubleValueSpec"},
      {"x:DISCRETE:1|2:linear", "discreteValueSpec"},
  };
  for (const auto& [text, kind] : cases) {
    const auto& shown = text;
    CAPTURE(shown);
    const auto body = body_of({"tune", good, "--display-name=d", metric, "--parameter=" + text});
    CHECK(body["studySpec"]["parameters"][0].contains(kind));
  }
}

TEST_CASE("a pipeline holds what its task is") {
  const auto custom = body_of({"--as=training-pipeline", good, "--display-name=d"});
  CHECK(custom["trainingTaskDefinition"] == *job::task_definition(job::JobKind::training_pipeline));
  CHECK(custom["trainingTaskInputs"]["workerPoolSpecs"].size() == 1);
  const auto tuning =
      body_of({"tune", "--as=training-pipeline", good, "--display-name=d", metric, parameter});
  CHECK(tuning["trainingTaskDefinition"] == *job::task_definition(job::JobKind::tuning_pipeline));
  CHECK(tuning["trainingTaskInputs"]["trialJobSpec"]["workerPoolSpecs"].size() == 1);
  CHECK(tuning["trainingTaskInputs"]["maxTrialCount"] == 1);
  CHECK(!tuning.contains("studySpec"));
}

}  // namespace autopack::job_kinds_test
