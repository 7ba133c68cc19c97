#include "pipeline/devices.hpp"

#include "base/contains.hpp"
#include "job/tables.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace autopack::pipeline {

namespace {

/// The TPUs of machine types, by the beginnings of their names. Source: as job/tables/machines.txt.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> tpus{
    {{"ct5lp-", "TPU v5e"}, {"ct6e-", "TPU v6e"}}};

}  // namespace

std::optional<gpu::Device> device_of(const job::Machine& machine) {
  const auto type = machine.type.value_or("");
  for (const auto& [prefix, name] : tpus) {
    if (type.starts_with(prefix)) {
      return gpu::Device{.name = std::string{name}};
    }
  }
  auto name = machine.accelerator.value_or("");
  const auto* const known = job::tables::find_machine(type);
  if (name.empty() && known != nullptr && !known->fixed.empty()) {
    name = known->fixed.front().type;
  }
  const auto capability = gpu::capability_of(name);
  return capability ? std::optional{gpu::Device{.name = std::move(name), .capability = capability}}
                    : std::nullopt;
}

std::vector<gpu::Device> devices_of(const preflight::PlannedJob& job) {
  std::vector<gpu::Device> devices;
  for (const auto* pool : job.pools_of(std::nullopt)) {
    auto device = device_of(preflight::machine_of(*pool));
    if (device && !contains(devices, *device)) {
      devices.push_back(*std::move(device));
    }
  }
  return devices;
}

}  // namespace autopack::pipeline
