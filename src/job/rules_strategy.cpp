#include "base/json.hpp"
#include "base/text.hpp"
#include "job/flag_values.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

using nlohmann::json;

namespace {

constexpr std::int64_t week = 7 * std::int64_t{86'400};  // seconds
constexpr std::array flex_start_accelerators{std::string_view{"NVIDIA_L4"},
                                             std::string_view{"NVIDIA_TESLA_A100"},
                                             std::string_view{"NVIDIA_A100_80GB"},
                                             std::string_view{"NVIDIA_H100_80GB"},
                                             std::string_view{"NVIDIA_H100_MEGA_80GB"},
                                             std::string_view{"NVIDIA_H200_141GB"},
                                             std::string_view{"NVIDIA_B200"}};

bool uses_tpu(const json& machine) {
  const auto* const known = tables::find_machine(text_of(machine, "machineType"));
  return (known != nullptr && known->tpu) ||
         text_of(machine, "acceleratorType").starts_with("TPU_");
}

/// More chips than one host has.
bool is_tpu_pod(const json& machine) {
  return machine.value("acceleratorCount", 0) >= 32 ||
         text_of(machine, "acceleratorType") == "TPU_V4_POD";
}

void check_flex_start(const json& spec, Findings& findings) {
  const auto timeout = text_of(spec["scheduling"], "timeout");
  if (duration_seconds(timeout) > week) {
    findings.error("jobSpec.scheduling.timeout",
                   fmt::format("a FLEX_START job runs at most 7 days, not `{}`", timeout));
  }
  const auto& pools = spec["workerPoolSpecs"];
  json first;
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (pools[i].empty()) {
      continue;
    }
    const auto machine = pools[i].value("machineSpec", json::object());
    const auto path = pool_path(i) + ".machineSpec";
    const auto accelerator = text_of(machine, "acceleratorType");
    if (first.is_null()) {
      first = machine;
    } else if (machine != first) {
      findings.error(path, "all pools of a FLEX_START job have the same machine");
    }
    if (!findings.options().skip_tables &&
        std::find(flex_start_accelerators.begin(), flex_start_accelerators.end(), accelerator) ==
            flex_start_accelerators.end()) {
      findings.error(path,
                     fmt::format("FLEX_START has machines with {}, not with {}",
                                 fmt::join(flex_start_accelerators, ", "),
                                 accelerator.empty() ? "no accelerator" : printable(accelerator)));
    }
  }
}

void check_tpus(const json& spec, const std::string& strategy, Findings& findings) {
  const auto& pools = spec["workerPoolSpecs"];
  const auto used =
      std::count_if(pools.begin(), pools.end(), [](const json& pool) { return !pool.empty(); });
  for (std::size_t i = 0; i < pools.size(); ++i) {
    const auto machine = pools[i].value("machineSpec", json::object());
    if (!uses_tpu(machine)) {
      continue;
    }
    if (used > 1) {
      findings.error(pool_path(i), "a job on TPUs has one worker pool");
    }
    if (strategy == "SPOT" && is_tpu_pod(machine)) {
      findings.error(pool_path(i), "TPU pods are not offered with strategy SPOT");
    }
  }
}

}  // namespace

void check_strategy(const json& body, Findings& findings) {
  const auto& spec = body["jobSpec"];
  const auto scheduling = spec.value("scheduling", json::object());
  const auto strategy = text_of(scheduling, "strategy");
  const auto& values = tables::find_field(tables::message("Scheduling"), "strategy")->values;
  const std::string path = "jobSpec.scheduling.strategy";
  if (!strategy.empty() && std::find(values.begin(), values.end(), strategy) == values.end()) {
    findings.error(path, fmt::format("unknown strategy `{}`{}", printable(strategy),
                                     tables::did_you_mean(strategy, values)));
  }
  if (strategy == "FLEX_START") {
    check_flex_start(spec, findings);
  } else if (scheduling.contains("maxWaitDuration")) {
    findings.warning("jobSpec.scheduling.maxWaitDuration",
                     "`maxWaitDuration` matters only with strategy FLEX_START");
  }
  if (scheduling.value("disableRetries", false) &&
      scheduling.value("restartJobOnWorkerRestart", false)) {
    findings.warning("jobSpec.scheduling.disableRetries",
                     "`disableRetries` overrides `restartJobOnWorkerRestart`");
  }
  check_tpus(spec, strategy, findings);
}

}  // namespace autopack::job
