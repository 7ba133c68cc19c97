#pragma once

#include "gpu/fit.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace autopack::cli {

/// Returns the GPU in the output of `nvidia-smi --query-gpu=name,compute_cap`, one a line; nothing
/// if the GPUs differ in their capability, or if a line is anything else.
std::optional<gpu::Device> read_local_gpu(std::string_view output);

/// Returns what the GPUs of this machine are; nothing if it has none, if they differ, or if
/// `nvidia-smi` cannot be asked.
std::optional<gpu::Device> local_gpu();

}  // namespace autopack::cli
