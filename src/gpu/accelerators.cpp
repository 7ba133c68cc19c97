#include "gpu/fit.hpp"

#include <algorithm>
#include <array>

namespace autopack::gpu {

namespace {

struct Accelerator {
  std::string_view name;
  Capability capability;
};

/// Sources: NVIDIA's list of CUDA GPUs and their compute capabilities, and Google Cloud's page
/// "GPU machine types", 2026.
constexpr std::array accelerators{
    Accelerator{.name = "NVIDIA_TESLA_K80", .capability = {.major = 3, .minor = 7}},
    Accelerator{.name = "NVIDIA_TESLA_P100", .capability = {.major = 6, .minor = 0}},
    Accelerator{.name = "NVIDIA_TESLA_P4", .capability = {.major = 6, .minor = 1}},
    Accelerator{.name = "NVIDIA_TESLA_V100", .capability = {.major = 7, .minor = 0}},
    Accelerator{.name = "NVIDIA_TESLA_T4", .capability = {.major = 7, .minor = 5}},
    Accelerator{.name = "NVIDIA_TESLA_A100", .capability = {.major = 8, .minor = 0}},
    Accelerator{.name = "NVIDIA_A100_80GB", .capability = {.major = 8, .minor = 0}},
    Accelerator{.name = "NVIDIA_L4", .capability = {.major = 8, .minor = 9}},
    Accelerator{.name = "NVIDIA_H100_80GB", .capability = {.major = 9, .minor = 0}},
    Accelerator{.name = "NVIDIA_H100_MEGA_80GB", .capability = {.major = 9, .minor = 0}},
    Accelerator{.name = "NVIDIA_H200_141GB", .capability = {.major = 9, .minor = 0}},
    Accelerator{.name = "NVIDIA_B200", .capability = {.major = 10, .minor = 0}},
    Accelerator{.name = "NVIDIA_GB200", .capability = {.major = 10, .minor = 0}},
    Accelerator{.name = "NVIDIA_RTX_PRO_6000", .capability = {.major = 12, .minor = 0}},
};

}  // namespace

std::optional<Capability> capability_of(std::string_view accelerator) {
  const auto* const found = std::ranges::find(accelerators, accelerator, &Accelerator::name);
  return found == accelerators.end() ? std::nullopt : std::optional{found->capability};
}

std::vector<std::string> known_accelerators() {
  std::vector<std::string> names;
  std::ranges::transform(accelerators, std::back_inserter(names),
                         [](const Accelerator& one) { return std::string{one.name}; });
  return names;
}

}  // namespace autopack::gpu
