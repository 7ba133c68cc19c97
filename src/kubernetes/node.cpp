#include "base/json.hpp"
#include "base/text.hpp"
#include "kubernetes/pod.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

// Which nodes a pool may run on. The labels of GKE are those of its documentation; elsewhere the
// labels come from Kubernetes itself and from NVIDIA's GPU feature discovery.

namespace autopack::kubernetes {

namespace {

using nlohmann::json;

struct AcceleratorRow {
  std::string_view type;
  std::string_view gke;
  std::string_view products;  ///< separated by spaces
};

constexpr std::array<AcceleratorRow, 12> accelerators{{
    {"NVIDIA_TESLA_T4", "nvidia-tesla-t4", "Tesla-T4 NVIDIA-T4"},
    {"NVIDIA_TESLA_P4", "nvidia-tesla-p4", "Tesla-P4"},
    {"NVIDIA_TESLA_P100", "nvidia-tesla-p100", "Tesla-P100-PCIE-16GB Tesla-P100-SXM2-16GB"},
    {"NVIDIA_TESLA_V100", "nvidia-tesla-v100",
     "Tesla-V100-SXM2-16GB Tesla-V100-SXM2-32GB Tesla-V100-PCIE-16GB Tesla-V100-PCIE-32GB"},
    {"NVIDIA_L4", "nvidia-l4", "NVIDIA-L4"},
    {"NVIDIA_TESLA_A100", "nvidia-tesla-a100",
     "NVIDIA-A100-SXM4-40GB NVIDIA-A100-PCIE-40GB A100-SXM4-40GB"},
    {"NVIDIA_A100_80GB", "nvidia-a100-80gb",
     "NVIDIA-A100-SXM4-80GB NVIDIA-A100-80GB-PCIe A100-SXM4-80GB"},
    {"NVIDIA_H100_80GB", "nvidia-h100-80gb", "NVIDIA-H100-80GB-HBM3 NVIDIA-H100-PCIe"},
    {"NVIDIA_H100_MEGA_80GB", "nvidia-h100-mega-80gb", "NVIDIA-H100-80GB-HBM3"},
    {"NVIDIA_H200_141GB", "nvidia-h200-141gb", "NVIDIA-H200"},
    {"NVIDIA_B200", "nvidia-b200", "NVIDIA-B200"},
    {"NVIDIA_GB200", "nvidia-gb200", "NVIDIA-GB200"},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> tpus{{
    {"ct4p-", "tpu-v4-podslice"},
    {"ct5lp-", "tpu-v5-lite-podslice"},
    {"ct5p-", "tpu-v5p-slice"},
    {"ct6e-", "tpu-v6e-slice"},
}};

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

void add_gke_labels(const job::Job& job, const job::Pool& pool, json& selector) {
  if (job.spec.scheduling && job.spec.scheduling->strategy.value_or("") == "SPOT") {
    selector["cloud.google.com/gke-spot"] = "true";
  }
  if (pool.disk && pool.disk->type) {
    selector["cloud.google.com/gke-boot-disk"] = *pool.disk->type;
  }
  if (!pool.machine) {
    return;
  }
  const auto& machine = *pool.machine;
  if (is_tpu(pool)) {
    selector["cloud.google.com/gke-tpu-accelerator"] = tpu_accelerator(machine.type.value_or(""));
    selector["cloud.google.com/gke-tpu-topology"] = machine.tpu_topology.value_or("1x1");
  } else if (machine.accelerator) {
    selector["cloud.google.com/gke-accelerator"] = names_of_accelerator(*machine.accelerator).gke;
  }
  if (machine.gpu_partition_size) {
    selector["cloud.google.com/gke-gpu-partition-size"] = *machine.gpu_partition_size;
  }
  if (machine.reservation && machine.reservation->type == "SPECIFIC_RESERVATION" &&
      !machine.reservation->values.empty()) {
    selector["cloud.google.com/reservation-affinity"] = "specific";
    selector["cloud.google.com/reservation-name"] = last_part(machine.reservation->values.front());
  }
}

}  // namespace

AcceleratorNames names_of_accelerator(const std::string& type) {
  const auto* const found = std::ranges::find(accelerators, type, &AcceleratorRow::type);
  if (found == accelerators.end()) {
    return {};
  }
  return {.gke = std::string{found->gke}, .products = split(found->products, ' ')};
}

bool is_tpu(const job::Pool& pool) {
  return pool.machine &&
         (pool.machine->tpu_topology || pool.machine->accelerator.value_or("").starts_with("TPU") ||
          !tpu_accelerator(pool.machine->type.value_or("")).empty());
}

std::string tpu_accelerator(const std::string& machine_type) {
  const auto* const found = std::ranges::find_if(
      tpus, [&](const auto& row) { return machine_type.starts_with(row.first); });
  return found == tpus.end() ? "" : std::string{found->second};
}

std::int64_t tpu_chips(const std::string& machine_type) {
  const auto dash = machine_type.rfind('-');
  std::int64_t chips = 0;
  if (dash != std::string::npos && machine_type.ends_with('t')) {
    std::from_chars(machine_type.data() + dash + 1, machine_type.data() + machine_type.size() - 1,
                    chips);
  }
  return chips;
}

json node_selector_of(const job::Job& job, const job::Pool& pool, const ObjectOptions& options) {
  auto selector = json::object();
  if (pool.machine && pool.machine->type && !is_tpu(pool)) {
    selector["node.kubernetes.io/instance-type"] = *pool.machine->type;
  }
  if (options.is_gke) {
    add_gke_labels(job, pool, selector);
  }
  return selector;
}

json limits_of(const job::Pool& pool) {
  auto limits = json::object();
  if (is_tpu(pool)) {
    limits["google.com/tpu"] =
        std::to_string(std::max<std::int64_t>(tpu_chips(pool.machine->type.value_or("")), 1));
  } else if (pool.machine && pool.machine->accelerator) {
    limits["nvidia.com/gpu"] = std::to_string(pool.machine->accelerators.value_or(1));
  }
  if (pool.disk && pool.disk->size) {
    limits["ephemeral-storage"] = std::to_string(*pool.disk->size) + "G";
  }
  return limits;
}

}  // namespace autopack::kubernetes
