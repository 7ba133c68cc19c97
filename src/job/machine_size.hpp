#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace autopack::job {

/// The size of a machine, and the family by which it is paid for.
struct MachineSize {
  std::string_view family{};  ///< `n1`, `a3plus`
  std::int64_t cpus{0};
  std::int64_t memory{0};  ///< thousandths of a GB
};

/// Returns nothing for a machine type whose size is unknown, and for machines that are paid for as
/// a whole, such as those with a TPU.
std::optional<MachineSize> find_machine_size(std::string_view type);

}  // namespace autopack::job
