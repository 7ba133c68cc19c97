#include "job/translate_machines.hpp"

#include "base/text.hpp"
#include "job/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace autopack::job {

namespace {

constexpr std::string_view t4 = "NVIDIA_TESLA_T4";
constexpr int most_t4 = 4;  // in one machine

/// A machine of the legacy service, and its nearest equivalent.
struct LegacyMachine {
  std::string_view name;
  std::string_view machine;
  std::optional<std::string_view> accelerator{};
  int accelerators{0};
};

constexpr std::array machines{
    LegacyMachine{"standard", "n1-standard-4"},
    LegacyMachine{"large_model", "n1-highmem-8"},
    LegacyMachine{"complex_model_s", "n1-highcpu-8"},
    LegacyMachine{"complex_model_m", "n1-highcpu-16"},
    LegacyMachine{"complex_model_l", "n1-highcpu-32"},
    LegacyMachine{"standard_gpu", "n1-standard-8", "NVIDIA_TESLA_K80", 1},
    LegacyMachine{"complex_model_m_gpu", "n1-standard-16", "NVIDIA_TESLA_K80", 4},
    LegacyMachine{"complex_model_l_gpu", "n1-standard-32", "NVIDIA_TESLA_K80", 8},
    LegacyMachine{"standard_p100", "n1-standard-8", "NVIDIA_TESLA_P100", 1},
    LegacyMachine{"complex_model_m_p100", "n1-standard-16", "NVIDIA_TESLA_P100", 4},
    LegacyMachine{"standard_v100", "n1-standard-8", "NVIDIA_TESLA_V100", 1},
    LegacyMachine{"large_model_v100", "n1-highmem-8", "NVIDIA_TESLA_V100", 1},
    LegacyMachine{"complex_model_m_v100", "n1-standard-16", "NVIDIA_TESLA_V100", 4},
    LegacyMachine{"complex_model_l_v100", "n1-standard-32", "NVIDIA_TESLA_V100", 8},
    LegacyMachine{"cloud_tpu", "cloud-tpu", "TPU_V2", 8},
};

Machine machine_of(std::string_view type,
                   std::optional<std::string_view> accelerator,
                   int accelerators) {
  Machine machine{.type = std::string{type}};
  if (accelerator) {
    machine.accelerator = std::string{*accelerator};
    machine.accelerators = accelerators;
  }
  return machine;
}

}  // namespace

std::vector<TierRole> tier_roles(std::string_view tier) {
  if (tier == "BASIC") {
    return {{"n1-standard-4", std::nullopt, 0, 1}};
  }
  if (tier == "BASIC_GPU") {
    return {{"n1-standard-8", "NVIDIA_TESLA_K80", 1, 1}};
  }
  if (tier == "BASIC_TPU") {
    return {{"cloud-tpu", "TPU_V2", 8, 1}};
  }
  if (tier == "STANDARD_1") {
    return {{"n1-highcpu-8", std::nullopt, 0, 1},
            {"n1-highcpu-8", std::nullopt, 0, 4},
            {"n1-standard-4", std::nullopt, 0, 3}};
  }
  if (tier == "PREMIUM_1") {
    return {{"n1-highcpu-16", std::nullopt, 0, 1},
            {"n1-highcpu-16", std::nullopt, 0, 19},
            {"n1-highmem-8", std::nullopt, 0, 11}};
  }
  return {};
}

Machine translate_machine(Legacy& legacy, const std::string& machine, const std::string& path) {
  const auto* const known =
      std::ranges::find_if(machines, [&](const auto& m) { return m.name == machine; });
  if (known != machines.end()) {
    legacy.warn(path, fmt::format("`{}` has no exact equivalent: `{}` is the nearest", machine,
                                  known->machine));
    return machine_of(known->machine, known->accelerator, known->accelerators);
  }
  const auto* const vertex = tables::find_machine(machine);
  if (vertex == nullptr) {
    std::vector<std::string_view> names;
    names.reserve(machines.size() + tables::machines().size());
    for (const auto& legacy_machine : machines) {
      names.push_back(legacy_machine.name);
    }
    for (const auto& other : tables::machines()) {
      names.push_back(other.name);
    }
    legacy.warn(path, fmt::format("Vertex AI is not known to have machine type `{}`{}",
                                  printable(machine), tables::did_you_mean(machine, names)));
    return {.type = machine};
  }
  if (vertex->fixed.empty()) {
    return {.type = machine};
  }
  return machine_of(machine, vertex->fixed[0].type, vertex->fixed[0].counts[0]);
}

void replace_old_accelerator(Legacy& legacy, Machine& machine, const std::string& path) {
  const auto type = machine.accelerator.value_or("");
  if (type == "NVIDIA_TESLA_K80") {
    const auto count = std::min<std::int64_t>(machine.accelerators.value_or(1), most_t4);
    machine.accelerator = std::string{t4};
    machine.accelerators = count;
    legacy.warn(path, fmt::format("`{}` no longer exists: {} `{}` replace it", type, count, t4));
  } else if (type.starts_with("TPU_V") && type.ends_with("_POD") && type != "TPU_V4_POD") {
    const auto name = type.substr(0, type.size() - std::string_view{"_POD"}.size());
    machine.accelerator = name;
    legacy.warn(path, fmt::format("`{}` has no equivalent: `{}` with the same count is the nearest",
                                  type, name));
  }
}

}  // namespace autopack::job
