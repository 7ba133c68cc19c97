#pragma once

#include "gpu/fit.hpp"
#include "preflight/planned_job.hpp"

#include <optional>
#include <string>
#include <vector>

namespace autopack::pipeline {

/// Returns the accelerator of a machine: the named one, else the one that its type always has;
/// nothing if it has none, or an unknown one.
std::optional<gpu::Device> device_of(const job::Machine& machine);

/// Returns the accelerators of the pools of `job` that run the packaged image, without duplicates.
std::vector<gpu::Device> devices_of(const preflight::PlannedJob& job);

}  // namespace autopack::pipeline
