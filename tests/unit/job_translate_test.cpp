#include "base/error.hpp"
#include "base/json.hpp"
#include "job/translate.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace autopack::job_translate_test {

using nlohmann::json;

namespace {

struct Case {
  std::string file{};
  job::LegacyFlags flags{};
  std::vector<std::string> findings{};  ///< a fragment of each, "MESSAGE (ORIGIN)"
};

std::optional<job::LegacyFile> file_of(const std::string& text) {
  return text.empty() ? std::nullopt
                      : std::optional<job::LegacyFile>{{.text = text, .name = "config.yaml"}};
}

Problems findings_of(const Case& bad) {
  try {
    static_cast<void>(job::translate(bad.flags, file_of(bad.file)));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::usage);
    Problems errors = error.problems();
    std::erase_if(errors,
                  [](const Problem& p) { return p.severity == Problem::Severity::warning; });
    return errors;
  }
  return {};
}

std::string told(const Problem& problem) {
  return problem.message + " (" + problem.origin.value_or("") + ")";
}

/// A training input with an image, and `rest`.
std::string with_image(const std::string& rest) {
  return "jobId: j\ntrainingInput:\n  masterConfig: {imageUri: i}\n" + rest;
}

const std::string custom = "  scaleTier: CUSTOM\n  masterType: standard\n";

std::string with_parameter(const std::string& parameter) {
  return with_image(custom + "  hyperparameters:\n    goal: MAXIMIZE\n    params:\n    - {" +
                    parameter + "}\n");
}

}  // namespace

TEST_CASE("a legacy job that cannot be translated is reported with all errors") {
  const std::vector<Case> cases{
      {"", {}, {"the job has nothing to run"}},
      {"- a\n", {}, {"`config.yaml` is a list, not a mapping", "nothing to run"}},
      {"a: [\n", {}, {"`config.yaml` is not YAML", "nothing to run"}},
      {"jobId: j\npredictionInput: {}\n", {}, {"is a prediction job", "nothing to run"}},
      {with_image("  masterTyp: standard\n"),
       {},
       {"unknown key `masterTyp` in TrainingInput (did you mean `masterType`?) "
        "(config.yaml:4)"}},
      {with_image("  scaleTier: LARGE\n"), {}, {"has no value `LARGE`"}},
      {with_image("  scaleTier: CUSTOM\n"), {}, {"scale tier CUSTOM needs `masterType`"}},
      {with_image("  scaleTier: CUSTOM\n  masterType: 4\n"), {}, {"is a whole number, not a str"}},
      {with_image("  scaleTier: BASIC\n  workerCount: 2\n"),
       {},
       {"scale tier BASIC sets the machines itself; `workerType` and `workerCount` are for "
        "CUSTOM"}},
      {with_image(custom + "  workerType: standard\n"),
       {},
       {"`workerType` and `workerCount` are given together or not at all"}},
      {with_image(custom + "  workerCount: two\n"), {}, {"is not a decimal number: `two`"}},
      {with_image("  runtimeVersion: '2.8'\n"),
       {},
       {"an image and `runtimeVersion` exclude each other (config.yaml:4)"}},
      {with_image("  pythonModule: m\n  packageUris: [gs://b/p]\n"),
       {},
       {"an image and Python packages exclude each other"}},
      {with_image("  args: [a]\n  workerConfig: {containerArgs: [b]}\n"),
       {},
       {"`args` excludes `containerCommand` and `containerArgs` of `workerConfig`"}},
      {"trainingInput: {pythonModule: m}\n", {}, {"module `m` is in no package"}},
      {"trainingInput: {pythonModule: m, packageUris: [gs://b/p]}\n",
       {},
       {"`runtimeVersion` is missing"}},
      {"trainingInput: {pythonModule: m, packageUris: [gs://b/p], runtimeVersion: '2'}\n",
       {},
       {"`2` is not a runtime version"}},
      {with_image("  scheduling: {maxRunningTime: long}\n"), {}, {"is a string, not a duration"}},
      {with_image("  hyperparameters: {params: []}\n"), {}, {"have no goal"}},
      {with_image("  hyperparameters: {goal: MAXIMIZE, hyperparameterMetricTag: my metric}\n"),
       {},
       {"`my metric` is not a valid id for a metric: it contains white space"}},
      {with_parameter("parameterName: x"), {}, {"parameter `x` has no type"}},
      {with_parameter("parameterName: x, type: DOUBLE, minValue: 1"),
       {},
       {"parameter `x` has no `maxValue`"}},
      {with_parameter("parameterName: x, type: INTEGER, minValue: 1.5, maxValue: 3"),
       {},
       {"`minValue` of `x` is 1.5, no whole number"}},
      {with_parameter("parameterName: x, type: CATEGORICAL"), {}, {"no `categoricalValues`"}},
      {with_parameter("parameterName: x, type: DISCRETE, categoricalValues: [a]"),
       {},
       {"no `discreteValues`"}},
      {with_parameter("parameterName: x, type: WHOLE"), {}, {"has no value `WHOLE`", "no type"}},
      {"",
       {.scale_tier = "hughe", .master = {.image_uri = "i"}},
       {"`hughe` is not a value of `--scale-tier`"}},
      {"",
       {.scale_tier = "custom", .master = {.image_uri = "i"}},
       {"scale tier CUSTOM needs `masterType`"}},
      {with_image(custom),
       {.master = {.accelerator = "type=nvidia-tesla-t5,count=1"}},
       {"`type=nvidia-tesla-t5,count=1` is not an accelerator"}},
      {with_image(custom),
       {.master = {.accelerator = "type=nvidia-tesla-t4,count=0"}},
       {"is not an accelerator"}},
      {with_image(custom),
       {.master = {.accelerator = "type=nvidia-tesla-t4,count=1,size=2"}},
       {"`size` is not a key of `--master-accelerator`"}},
      {with_image(custom),
       {.worker = {.machine_type = "standard", .count = "many"}},
       {"`many` is not a number of replicas (`--worker-count`)", "`workerType` and `workerCount`"}},
      {with_image(custom),
       {.use_chief = "yes"},
       {"`yes` is neither `true` nor `false` (`--use-chief-in-tf-config`)"}},
  };
  for (const auto& bad : cases) {
    const auto problems = findings_of(bad);
    std::string all;
    for (const auto& problem : problems) {
      all += told(problem) + "\n";
    }
    CAPTURE(bad.file);
    CAPTURE(all);
    CHECK(problems.size() == bad.findings.size());
    for (const auto& finding : bad.findings) {
      CAPTURE(finding);
      CHECK(std::any_of(problems.begin(), problems.end(), [&](const Problem& p) {
        return told(p).find(finding) != std::string::npos;
      }));
    }
  }
}

TEST_CASE("a runtime version becomes the image that comes nearest, near the region") {
  struct Runtime {
    const char* version;
    const char* region;
    const char* image;
  };

  const std::vector<Runtime> runtimes{
      {"2.8", "us-east1", "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-8:latest"},
      {"2.10", "europe-west1", "europe-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest"},
      {"1.2", "asia-east1", "asia-docker.pkg.dev/vertex-ai/training/tf-cpu.1-15:latest"},
      {"9.9", "us-east1", "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-17.py310:latest"},
  };
  for (const auto& runtime : runtimes) {
    CAPTURE(runtime.version);
    const auto translation = job::translate({.job_id = "j",
                                             .region = runtime.region,
                                             .scale_tier = "basic",
                                             .runtime_version = runtime.version,
                                             .module_name = "m",
                                             .packages = {"gs://b/p.tar.gz"}},
                                            std::nullopt);
    CHECK(translation.job.spec.pools.at(0).package->executor_image == runtime.image);
  }
}

TEST_CASE("local code is left to be packaged") {
  const auto translation = job::translate({.job_id = "j",
                                           .scale_tier = "basic-gpu",
                                           .runtime_version = "2.11",
                                           .module_name = "trainer.task",
                                           .package_path = "code/trainer/",
                                           .packages = {"a.whl", "b.tar.gz"}},
                                          std::nullopt);
  CHECK(translation.pool_flag ==
        "--worker-pool-spec=executor-image-uri=us-docker.pkg.dev/vertex-ai/training/"
        "tf-gpu.2-11:latest,local-package-path=code,python-module=trainer.task,"
        "extra-packages=a.whl;b.tar.gz");
}

}  // namespace autopack::job_translate_test
