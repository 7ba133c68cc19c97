#include "job/translate.hpp"

#include "base/json.hpp"
#include "base/text.hpp"
#include "job/legacy.hpp"
#include "job/rules.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

using nlohmann::json;

namespace {

constexpr std::string_view unnamed = "training-job";
constexpr std::size_t longest_label = 63;

/// What concerns the job as a whole, not its replicas.
class JobTranslation {
public:
  explicit JobTranslation(Legacy& legacy) : legacy_{legacy} {}

  json run();

private:
  void names(json& body);
  void spec(json& spec);
  void scheduling(json& spec);

  Legacy& legacy_;
};

void JobTranslation::names(json& body) {
  const auto id = text_of(*legacy_.job, "jobId");
  if (id.empty()) {
    legacy_.warn("jobId", fmt::format("the job has no id: it is named `{}`", unnamed),
                 {"name it: autopack translate NAME ..., or --display-name of `submit`"});
  }
  body["displayName"] = id.empty() ? std::string{unnamed} : id;
  json labels = legacy_.job->value("labels", json::object());
  if (!id.empty()) {
    labels["legacy-job-id"] = to_lower(id).substr(0, longest_label);
  }
  if (!labels.empty()) {
    body["labels"] = std::move(labels);
  }
  const auto key = text_of(legacy_.input().value("encryptionConfig", json::object()), "kmsKeyName");
  if (!key.empty()) {
    body["encryptionSpec"] = {{"kmsKeyName", key}};
  }
}

void JobTranslation::scheduling(json& spec) {
  const auto scheduling = legacy_.input().value("scheduling", json::object());
  if (scheduling.contains("maxRunningTime")) {
    spec["scheduling"]["timeout"] = scheduling["maxRunningTime"];
  }
  if (scheduling.contains("maxWaitTime")) {
    legacy_.warn("trainingInput.scheduling.maxWaitTime",
                 "`maxWaitTime` has no equal: only FLEX_START jobs wait for a set time",
                 {"--strategy=FLEX_START --max-wait-duration=TIME, where the accelerator has it"});
  }
  if (scheduling.contains("priority")) {
    legacy_.warn("trainingInput.scheduling.priority", "`priority` has no equal");
  }
}

void JobTranslation::spec(json& spec) {
  const auto& input = legacy_.input();
  spec["workerPoolSpecs"] = translate_pools(legacy_);
  for (const auto* key : {"network", "serviceAccount"}) {
    if (input.contains(key)) {
      spec[key] = input[key];
    }
  }
  if (input.value("enableWebAccess", false)) {
    spec["enableWebAccess"] = true;
  }
  if (const auto directory = legacy_.text("jobDir"); !directory.empty()) {
    spec["baseOutputDirectory"] = {{"outputUriPrefix", directory}};
  }
  scheduling(spec);
  const bool several = spec["workerPoolSpecs"].size() > 1;
  if (several && !input.value("useChiefInTfConfig", false)) {
    legacy_.warn("trainingInput.useChiefInTfConfig",
                 "TF_CONFIG names the first replica `chief` on Vertex AI, not `master`: a program "
                 "that looks for `master` must take both");
  }
}

json JobTranslation::run() {
  auto body = json::object();
  names(body);
  json spec_body = json::object();
  spec(spec_body);
  body["jobSpec"] = std::move(spec_body);
  if (legacy_.input().contains("hyperparameters")) {
    translate_study(legacy_, body);
  }
  return body;
}

/// The directory that holds the package, as `--local-package-path` wants it.
std::string parent_of(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) {
    return ".";
  }
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// Local code is not uploaded to Cloud Storage but packaged into an image.
std::string packaging(Legacy& legacy, const json& body) {
  if (legacy.package_path.empty() && legacy.local_packages.empty()) {
    return {};
  }
  const auto& pools = body["jobSpec"]["workerPoolSpecs"];
  const auto machine =
      pools.empty() ? json::object() : pools[0].value("machineSpec", json::object());
  std::string flag =
      fmt::format("--worker-pool-spec=executor-image-uri={},local-package-path={},python-module={}",
                  runtime_image(legacy, text_of(machine, "acceleratorType")),
                  parent_of(legacy.package_path), legacy.text("pythonModule"));
  auto packages = legacy.local_packages;
  if (!packages.empty()) {
    flag += ",extra-packages=" + join(packages, ";");
  }
  if (legacy.input().contains("packageUris")) {
    legacy.warn("trainingInput.packageUris",
                "packages in Cloud Storage are left out beside local ones: download them and name "
                "them as extra-packages");
  }
  return flag;
}

}  // namespace

Translation translate(const LegacyFlags& flags, const std::optional<LegacyFile>& file) {
  auto legacy = read_legacy(flags, file);
  auto body = JobTranslation{legacy}.run();
  Translation result{.kind = legacy.input().contains("hyperparameters") ? JobKind::tuning_job
                                                                        : JobKind::custom_job,
                     .region = legacy.text("region"),
                     .pool_flag = packaging(legacy, body)};
  throw_if_errors(legacy.problems, ErrorKind::usage);
  auto& warnings = legacy.problems;
  const auto same = [](const Problem& a, const Problem& b) {
    return a.message == b.message && a.origin == b.origin;
  };
  for (const auto& warning : warnings) {
    const bool told = std::any_of(result.warnings.begin(), result.warnings.end(),
                                  [&](const Problem& other) { return same(warning, other); });
    if (!told) {
      result.warnings.push_back(warning);
    }
  }
  result.resource = std::make_shared<const json>(resource_of(std::move(body), result.kind));
  return result;
}

}  // namespace autopack::job
