#include "cli/local_gpus.hpp"

#include "base/error.hpp"
#include "base/process.hpp"
#include "base/text.hpp"

#include <chrono>

namespace autopack::cli {

std::optional<gpu::Device> read_local_gpu(std::string_view output) {
  std::optional<gpu::Device> found;
  for (const auto& line : split(output, '\n')) {
    if (trim(line).empty()) {
      continue;
    }
    const auto comma = line.rfind(',');
    const auto capability = comma == std::string::npos
                                ? std::nullopt
                                : gpu::Capability::parse(trim(line.substr(comma + 1)));
    if (!capability || (found && found->capability != capability)) {
      return std::nullopt;
    }
    if (!found) {
      found =
          gpu::Device{.name = std::string{trim(line.substr(0, comma))}, .capability = capability};
    }
  }
  return found;
}

std::optional<gpu::Device> local_gpu() {
  constexpr std::chrono::seconds longest{10};
  try {
    const auto result =
        run_process({"nvidia-smi", "--query-gpu=name,compute_cap", "--format=csv,noheader"}, "",
                    {.timeout = longest});
    return result && result->status == 0 ? read_local_gpu(result->output) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace autopack::cli
