#include "job/translate.hpp"

#include "base/text.hpp"
#include "job/legacy.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace autopack::job {

namespace {

constexpr std::string_view unnamed = "training-job";

/// Translates the job as a whole, without its replicas.
class JobTranslation {
public:
  explicit JobTranslation(Legacy& legacy) : legacy_{legacy}, input_{legacy.input()} {}

  Job run();

private:
  void names(Job& job);
  void spec(Spec& spec);
  void scheduling(const LegacyScheduling& scheduling, Spec& spec);

  Legacy& legacy_;
  const LegacyInput& input_;
};

void JobTranslation::names(Job& job) {
  const auto id = legacy_.job.id.value_or("");
  if (id.empty()) {
    legacy_.warn("jobId", fmt::format("the job has no id: it is named `{}`", unnamed),
                 {"name it: autopack translate NAME ..., or --display-name of `submit`"});
  }
  job.display_name = id.empty() ? std::string{unnamed} : id;
  auto labels = legacy_.job.labels.value_or(std::map<std::string, std::string>{});
  if (!id.empty()) {
    constexpr std::size_t longest_label = 63;
    labels["legacy-job-id"] = to_lower(id).substr(0, longest_label);
  }
  if (!labels.empty()) {
    job.labels = std::move(labels);
  }
  const auto key = input_.encryption ? input_.encryption->key_name.value_or("") : "";
  if (!key.empty()) {
    job.encryption = Encryption{.key_name = key};
  }
}

void JobTranslation::scheduling(const LegacyScheduling& scheduling, Spec& spec) {
  if (scheduling.longest_run) {
    ensure(spec.scheduling).timeout = scheduling.longest_run;
  }
  if (scheduling.longest_wait) {
    legacy_.warn("trainingInput.scheduling.maxWaitTime",
                 "`maxWaitTime` has no equivalent: only FLEX_START jobs wait for a set time",
                 {"--strategy=FLEX_START --max-wait-duration=TIME, where the accelerator has it"});
  }
  if (scheduling.priority) {
    legacy_.warn("trainingInput.scheduling.priority", "`priority` has no equivalent");
  }
}

void JobTranslation::spec(Spec& spec) {
  spec.pools = translate_pools(legacy_);
  spec.network = input_.network;
  spec.service_account = input_.service_account;
  if (input_.enable_web_access.value_or(false)) {
    spec.enable_web_access = true;
  }
  if (const auto directory = input_.job_directory.value_or(""); !directory.empty()) {
    spec.output = Directory{.uri = directory};
  }
  if (input_.scheduling) {
    scheduling(*input_.scheduling, spec);
  }
  if (spec.pools.size() > 1 && !input_.use_chief.value_or(false)) {
    legacy_.warn("trainingInput.useChiefInTfConfig",
                 "TF_CONFIG names the first replica `chief` on Vertex AI, not `master`: a program "
                 "that looks for `master` must accept both");
  }
}

Job JobTranslation::run() {
  Job job;
  names(job);
  spec(job.spec);
  if (input_.study) {
    job.kind = JobKind::tuning_job;
    translate_study(legacy_, *input_.study, job);
  }
  return job;
}

/// Returns the directory that contains the package, as `--local-package-path` expects it.
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

/// Local code is packaged into an image, not uploaded to Cloud Storage.
Text packaging(Legacy& legacy, const Job& job) {
  if (!legacy.is_local()) {
    return std::nullopt;
  }
  const auto& pools = job.spec.pools;
  const auto machine = pools.empty() ? Machine{} : pools[0].machine.value_or(Machine{});
  std::string flag =
      fmt::format("--worker-pool-spec=executor-image-uri={},local-package-path={},python-module={}",
                  runtime_image(legacy, machine.accelerator).value_or(""),
                  legacy.package_path ? parent_of(*legacy.package_path) : ".",
                  legacy.input().module.value_or(""));
  if (!legacy.local_packages.empty()) {
    flag += ",extra-packages=" + join(legacy.local_packages, ";");
  }
  if (legacy.input().package_uris) {
    legacy.warn("trainingInput.packageUris",
                "packages in Cloud Storage are left out beside local ones: download them and name "
                "them as extra-packages");
  }
  return flag;
}

}  // namespace

Translation translate(const LegacyFlags& flags, const std::optional<LegacyFile>& file) {
  auto legacy = read_legacy(flags, file);
  Translation result{.job = JobTranslation{legacy}.run(),
                     .region = non_empty(legacy.input().region.value_or(""))};
  result.pool_flag = packaging(legacy, result.job);
  throw_if_errors(legacy.problems, ErrorKind::usage);
  auto& warnings = legacy.problems;
  const auto same = [](const Problem& a, const Problem& b) {
    return a.message == b.message && a.origin == b.origin;
  };
  for (const auto& warning : warnings) {
    const bool reported = std::ranges::any_of(
        result.warnings, [&](const Problem& other) { return same(warning, other); });
    if (!reported) {
      result.warnings.push_back(warning);
    }
  }
  return result;
}

}  // namespace autopack::job
