#include "base/contains.hpp"
#include "base/text.hpp"
#include "job/flag_values.hpp"
#include "job/rules.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

namespace {

constexpr std::int64_t week = 7 * std::int64_t{86'400};  // seconds
constexpr std::array flex_start_accelerators{std::string_view{"NVIDIA_L4"},
                                             std::string_view{"NVIDIA_TESLA_A100"},
                                             std::string_view{"NVIDIA_A100_80GB"},
                                             std::string_view{"NVIDIA_H100_80GB"},
                                             std::string_view{"NVIDIA_H100_MEGA_80GB"},
                                             std::string_view{"NVIDIA_H200_141GB"},
                                             std::string_view{"NVIDIA_B200"}};

bool uses_tpu(const Machine& machine) {
  const auto* const known = tables::find_machine(machine.type.value_or(""));
  return (known != nullptr && known->tpu) || machine.accelerator.value_or("").starts_with("TPU_");
}

/// Returns true if it has more chips than one host.
bool is_tpu_pod(const Machine& machine) {
  return machine.accelerators.value_or(0) >= 32 || machine.accelerator == "TPU_V4_POD";
}

void check_flex_start(const Spec& spec, Review& review) {
  const auto timeout = spec.scheduling ? spec.scheduling->timeout.value_or("") : "";
  if (duration_seconds(timeout) > week) {
    review.error("jobSpec.scheduling.timeout",
                 fmt::format("a FLEX_START job runs at most 7 days, not `{}`", timeout));
  }
  std::optional<Machine> first;
  for (std::size_t i = 0; i < spec.pools.size(); ++i) {
    if (spec.pools[i].is_empty()) {
      continue;
    }
    const auto machine = spec.pools[i].machine.value_or(Machine{});
    const auto path = pool_path(i) + ".machineSpec";
    const auto accelerator = machine.accelerator.value_or("");
    if (!first) {
      first = machine;
    } else if (machine != *first) {
      review.error(path, "all pools of a FLEX_START job have the same machine");
    }
    if (!review.options().skip_tables && !contains(flex_start_accelerators, accelerator)) {
      review.error(path,
                   fmt::format("FLEX_START has machines with {}, not with {}",
                               fmt::join(flex_start_accelerators, ", "),
                               accelerator.empty() ? "no accelerator" : printable(accelerator)));
    }
  }
}

void check_tpus(const Spec& spec, const std::string& strategy, Review& review) {
  const auto& pools = spec.pools;
  const auto used = std::ranges::count_if(pools, [](const Pool& pool) { return !pool.is_empty(); });
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (!pools[i].machine || !uses_tpu(*pools[i].machine)) {
      continue;
    }
    if (used > 1) {
      review.error(pool_path(i), "a job on TPUs has one worker pool");
    }
    if (strategy == "SPOT" && is_tpu_pod(*pools[i].machine)) {
      review.error(pool_path(i), "TPU pods are not offered with strategy SPOT");
    }
  }
}

}  // namespace

void check_strategy(const Spec& spec, Review& review) {
  const auto scheduling = spec.scheduling.value_or(Scheduling{});
  const auto strategy = scheduling.strategy.value_or("");
  const auto& values = tables::find_field(tables::message("Scheduling"), "strategy")->values;
  const std::string path = "jobSpec.scheduling.strategy";
  if (!strategy.empty() && !contains(values, strategy)) {
    review.error(path, fmt::format("unknown strategy `{}`{}", printable(strategy),
                                   tables::did_you_mean(strategy, values)));
  }
  if (strategy == "FLEX_START") {
    check_flex_start(spec, review);
  } else if (scheduling.max_wait) {
    review.warning("jobSpec.scheduling.maxWaitDuration",
                   "`maxWaitDuration` matters only with strategy FLEX_START");
  }
  if (scheduling.disable_retries.value_or(false) &&
      scheduling.restart_on_worker_restart.value_or(false)) {
    review.warning("jobSpec.scheduling.disableRetries",
                   "`disableRetries` overrides `restartJobOnWorkerRestart`");
  }
  check_tpus(spec, strategy, review);
}

}  // namespace autopack::job
